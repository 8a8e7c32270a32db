import { sessionExportSchema } from '#schema/rest/session-export.ts';
import { FILE_POLICY } from '#server/auth/policies.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { contentDisposition } from '#utils/http/content-disposition.ts';
import { streamed } from '#utils/http/reply.ts';
import { pathParams } from '#utils/params.ts';

const MAX_ID_CHARS = 48;

export default defineRawEndpoint({
  summary: 'Download a session as a zip archive',
  tag: 'sessions',
  params: pathParams('session_id'),
  body: sessionExportSchema,
  bodyRequired: false,
  raw: { contentType: 'application/zip', headers: ['content-disposition', 'content-length', 'cache-control'] },
  errors: ['session.not_found'],
  async handler({ params: { session_id }, body, app, signal }) {
    const { file, size } = await app.sessions.export(session_id, body, signal);
    const id = session_id.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, MAX_ID_CHARS);
    return streamed(file.createReadStream({ start: 0 }), size, {
      ...FILE_POLICY,
      'content-type': 'application/zip',
      'content-disposition': contentDisposition('attachment', `service-session-${id}.zip`),
      'cache-control': 'no-store',
    });
  },
});
