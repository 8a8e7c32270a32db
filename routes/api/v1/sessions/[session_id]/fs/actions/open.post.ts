import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { openPath } from '#server/workspace-files/launch.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Open a file or directory on the machine of the server, in the editor that the user has set',
  body: fileFields({ path: nonEmpty, line: z.int().min(1).optional() }),
  data: z.object({ opened: z.literal(true) }),
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  async handler({ body, directory, app }) {
    await openPath(directory, body, app.options.env());
    return { opened: true as const };
  },
});
