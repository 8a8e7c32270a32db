import * as z from 'zod';
import { nonEmpty } from '#schema/scalars.ts';
import { ServiceError, invalidField } from '#server/errors/service-error.ts';
import { openDownload } from '#server/workspace-files/download.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { assertRuntime, FILE_ERRORS, fileFields } from '#utils/files-endpoint.ts';
import { contentDisposition } from '#utils/http/content-disposition.ts';
import { FILE_HEADERS, sendOpened } from '#utils/http/send-opened.ts';

const TAIL = ':download';

/** The path includes its tail, of any form. */
function withoutTail(path: string): string {
  if (!path.endsWith(TAIL)) {
    const message = `unsupported action: ${path}`;
    throw new ServiceError('validation.failed', message, { details: [{ path: 'path', message }] });
  }
  const bare = path.slice(0, -TAIL.length);
  if (bare === '') throw invalidField('path', 'path is empty');
  return bare;
}

export default defineRawEndpoint({
  summary: 'The bytes of a file',
  tag: 'fs',
  operationId: 'downloadFile',
  params: z.object({ session_id: nonEmpty, path: z.string() }),
  query: fileFields({}),
  raw: {
    contentType: 'application/octet-stream',
    statuses: [200, 206, 304],
    headers: [...FILE_HEADERS, 'content-disposition'],
  },
  errors: [...FILE_ERRORS, 'fs.path_not_found', 'fs.permission_denied', 'fs.is_directory'],
  async handler({ params, query, app, event }) {
    const path = withoutTail(params.path);
    const directory = await app.sessions.workDirectory(params.session_id);
    assertRuntime(query.runtime_id, directory.workspaceId);
    const opened = await openDownload(directory, path);
    return sendOpened(event.node.req, opened, contentDisposition('attachment', opened.name));
  },
});
