import { homedir } from 'node:os';
import * as z from 'zod';
import { hostDirectorySchema } from '#schema/rest/host-files.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { browse } from '#server/host-files/browse.ts';
import { defineEndpoint } from '#utils/endpoint.ts';

export default defineEndpoint({
  summary: 'The directories in a directory of the machine, by default in the home of the user',
  tag: 'fs',
  tagDescription: 'Files of a workspace',
  operationId: 'fsBrowse',
  query: z.object({ path: nonEmpty.optional() }),
  data: hostDirectorySchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  handler: ({ query }) => browse(query.path ?? homedir()),
});
