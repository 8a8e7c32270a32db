import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { revealPath } from '#server/workspace-files/launch.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Show a file or directory in the file manager on the machine of the server',
  body: fileFields({ path: nonEmpty }),
  data: z.object({ revealed: z.literal(true) }),
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  async handler({ body, directory, app }) {
    await revealPath(directory, body.path, app.options.env());
    return { revealed: true as const };
  },
});
