import { asyncApiDocument } from '#utils/documents/asyncapi.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { JSON_TYPE } from '#utils/http/reply.ts';

/** Documents by bind host, memoized; a process has one host, only tests have several apps. */
const documents = new Map<string, string>();

export default defineRawEndpoint({
  summary: 'The WebSocket API as AsyncAPI 3.1',
  tag: 'meta',
  raw: { contentType: 'application/json' },
  handler({ app }) {
    const { host } = app.options;
    const document = documents.get(host) ?? JSON.stringify(asyncApiDocument({ version: SERVER_VERSION, host }));
    documents.set(host, document);
    return { status: 200, headers: { 'content-type': JSON_TYPE }, body: document };
  },
});
