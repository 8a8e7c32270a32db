import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { makeHostDirectory } from '#server/host-files/make-directory.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'Create a directory anywhere on the machine',
  tag: 'fs',
  operationId: 'fsMkdir',
  body: z.object({ path: nonEmpty }),
  data: z.object({ path: z.string() }),
  errors: ['fs.path_not_found', 'fs.permission_denied', 'fs.already_exists'],
  async handler({ body }) {
    await makeHostDirectory(body.path);
    return { path: body.path };
  },
});
