import endpoints from '#endpoints';
import type { App } from '#server/app/app.ts';
import { SERVER_VERSION } from '#server/version.ts';
import { defineRawEndpoint } from '#utils/endpoint.ts';
import { JSON_TYPE } from '#utils/http/reply.ts';
import { openApiDocument } from '#utils/documents/openapi.ts';

/** Memoized by app, because the mounted endpoints depend on its bind. */
const documents = new WeakMap<App, Promise<string>>();

export default defineRawEndpoint({
  summary: 'This document',
  tag: 'meta',
  raw: { contentType: 'application/json' },
  async handler({ app }) {
    let document = documents.get(app);
    if (!document) {
      document = openApiDocument(endpoints, app.bind, { version: SERVER_VERSION, basePath: app.options.basePath }).then(
        (value) => JSON.stringify(value),
      );
      documents.set(app, document);
    }
    return { status: 200, headers: { 'content-type': JSON_TYPE }, body: await document };
  },
});
