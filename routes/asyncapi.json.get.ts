import { asyncApiDocument } from '../server/events/asyncapi.ts';
import { SERVER_VERSION } from '../server/version.ts';
import { useApp } from '../utils/app.ts';
import { defineRawEndpoint } from '../utils/endpoint.ts';
import { JSON_TYPE } from '../utils/http/reply.ts';

/** Made once per process, which has one bind host. */
let document: string | undefined;

export default defineRawEndpoint({
  summary: 'The WebSocket API as AsyncAPI 3.1',
  raw: { contentType: 'application/json' },
  handler() {
    document ??= JSON.stringify(asyncApiDocument({ version: SERVER_VERSION, host: useApp().options.host }));
    return { status: 200, headers: { 'content-type': JSON_TYPE }, body: document };
  },
});
