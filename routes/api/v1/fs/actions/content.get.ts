import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { openHostFile } from '#server/host-files/content.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { FILE_HEADERS, sendOpened } from '#utils/http/send-opened.ts';

export default defineRawEndpoint({
  summary: 'The bytes of any file of the machine',
  tag: 'fs',
  operationId: 'fsContent',
  query: z.object({ path: nonEmpty }),
  raw: { contentType: 'application/octet-stream', statuses: [200, 206, 304], headers: FILE_HEADERS },
  errors: ['fs.path_not_found', 'fs.permission_denied', 'fs.is_directory'],
  handler: async ({ query, event }) => sendOpened(event.node.req, await openHostFile(query.path)),
});
