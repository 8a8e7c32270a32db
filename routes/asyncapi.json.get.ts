import { asyncApiDocument } from '#utils/documents/asyncapi.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { JSON_TYPE } from '#utils/http/reply.ts';

/** Documents by the address of the server, memoized; a process has one, only tests have several apps. */
const documents = new Map<string, string>();

export default defineRawEndpoint({
  summary: 'The WebSocket API as AsyncAPI 3.1',
  tag: 'meta',
  raw: { contentType: 'application/json' },
  handler({ app }) {
    const { host, basePath, certificate } = app.options;
    const address = { host, basePath, secure: certificate !== undefined };
    const key = JSON.stringify(address);
    const document = documents.get(key) ?? JSON.stringify(asyncApiDocument({ version: SERVER_VERSION, ...address }));
    documents.set(key, document);
    return { status: 200, headers: { 'content-type': JSON_TYPE }, body: document };
  },
});
