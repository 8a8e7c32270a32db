import { ServiceError } from '#server/errors/service-error.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { sendMedia } from '#utils/http/send-media.ts';
import { pathParams } from '#utils/params.ts';

export default defineRawEndpoint({
  summary: 'Download an uploaded file',
  tag: 'files',
  params: pathParams('file_id'),
  raw: {
    contentType: 'application/octet-stream',
    statuses: [200, 206],
    headers: ['content-disposition', 'content-length', 'etag'],
  },
  errors: ['file.not_found'],
  failureStatuses: { 'file.not_found': 404, 'internal.error': 500 },
  async handler({ params, app, event }) {
    const found = await app.uploads.open(params.file_id).catch((error: unknown) => {
      // A failure of the storage is reported with an HTTP status, which requires an unexpected error
      // (`internal.error`).
      throw new Error('the upload cannot be read', { cause: error });
    });
    if (!found) throw new ServiceError('file.not_found', 'file not found');
    return sendMedia(event.node.req, found, `${found.record.id}-${found.size}`);
  },
});
