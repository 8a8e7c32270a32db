import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { APP_IDS } from '#server/workspace-files/launch-commands.ts';
import { openPathIn } from '#server/workspace-files/launch.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Open a file or directory in a given program on the machine of the server',
  body: fileFields({ app_id: z.enum(APP_IDS), path: nonEmpty, line: z.int().min(1).optional() }),
  data: z.object({ opened: z.literal(true) }),
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  async handler({ body, directory, app }) {
    await openPathIn(directory, body.app_id, body, app.options.env());
    return { opened: true as const };
  },
});
