import type { App } from '#server/app.ts';
import { asyncApiDocument } from '#utils/documents/asyncapi.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { JSON_TYPE } from '#utils/http/reply.ts';

/** Made once for each app; it names the bind host. */
const documents = new WeakMap<App, string>();

export default defineRawEndpoint({
  summary: 'The WebSocket API as AsyncAPI 3.1',
  tag: 'meta',
  raw: { contentType: 'application/json' },
  handler({ app }) {
    const document =
      documents.get(app) ?? JSON.stringify(asyncApiDocument({ version: SERVER_VERSION, host: app.options.host }));
    documents.set(app, document);
    return { status: 200, headers: { 'content-type': JSON_TYPE }, body: document };
  },
});
