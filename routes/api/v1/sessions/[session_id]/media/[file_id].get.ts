import { ServiceError } from '#server/errors/service-error.ts';
import { openSessionMedia } from '#server/uploads/session-media.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { sendMedia } from '#utils/http/send-media.ts';
import { pathParams } from '#utils/params.ts';

export default defineRawEndpoint({
  summary: 'Download a file that a prompt of the session references',
  tag: 'files',
  params: pathParams('session_id', 'file_id'),
  raw: {
    contentType: 'application/octet-stream',
    statuses: [200, 206],
    headers: ['content-disposition', 'content-length', 'etag'],
  },
  errors: ['session.not_found', 'file.not_found'],
  failureStatuses: { 'session.not_found': 404, 'file.not_found': 404 },
  async handler({ params: { session_id, file_id }, app, event }) {
    const kept = await app.sessions
      .use(session_id, ({ log }) => openSessionMedia(log.dir, file_id))
      .catch((error: unknown) => {
        if (!(error instanceof ServiceError) || error.name !== 'session.not_found') throw error;
        throw new ServiceError('session.not_found', 'session not found');
      });
    // The prompt that references it may still be in progress.
    const found = kept ?? (await app.uploads.open(file_id));
    if (!found) throw new ServiceError('file.not_found', 'file not found');
    return sendMedia(event.node.req, found, `${session_id}-${file_id}-${found.size}`);
  },
});
