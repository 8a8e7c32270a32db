/**
 * A scripted model server over real HTTP that speaks all five wire formats. Requests are answered from a queue in their
 * order; the path of a request decides the format. If the queue is empty it answers 400, so that a test fails
 * immediately instead of waiting.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { WireType } from '#server/models/types.ts';
import { encodeEvent, encodings, type WireFormat } from './model-wire.ts';
import { until } from './patience.ts';

export interface ScriptedCall {
  name: string;
  /** An object is sent as JSON, a string verbatim; both in two chunks. */
  args?: unknown;
  /** Default `call_<n>`; null sends none. */
  id?: string | null;
  /** native: `extras`; Gemini: `thought_signature` in it. */
  extras?: Record<string, unknown>;
}

export interface Script {
  thinking?: string | string[];
  /** Signature or encrypted blob of the thinking. */
  signature?: string;
  text?: string | string[];
  calls?: ScriptedCall[];
  /** Sends the arguments of the first call before its name. */
  argumentsFirst?: boolean;
  /** The provider's finish reason; default: the one that fits. */
  finish?: string;
  /** Tokens; `input` includes `cached`. False sends no usage. */
  usage?: { input: number; output: number; cached?: number; cacheCreation?: number } | false;
  /** Raw events that replace all of the above; the end mark must be among them. */
  events?: Record<string, unknown>[];
  /** Answers with an error instead of a stream. */
  status?: number;
  /** Message of the error, or its whole body. */
  error?: string | Record<string, unknown>;
  headers?: Record<string, string>;
  /** Milliseconds between two parts; default: no delay. */
  paceMs?: number;
  /** Never answers. */
  hang?: true;
  /** Sends the parts, then pauses until `release()`; then finishes. */
  hold?: true;
  /** Sends the parts, then resets the connection. */
  breakOff?: true;
  /** Sends the parts, then closes properly but without the end mark. */
  noEnd?: true;
  /** Sends a line that is not JSON after the parts. */
  malformed?: true;
  /** Sends an error object in the stream after the parts. */
  streamError?: Record<string, unknown>;
}

export interface RecordedRequest {
  format: WireFormat;
  method: string;
  /** Path with query. */
  path: string;
  headers: Record<string, string>;
  body: Record<string, unknown>;
  /** Whether the client disconnected before the answer was complete. */
  aborted: boolean;
}

export interface ScriptHandle {
  /** Lets a held stream finish. */
  release(): void;
  /** Resolves when all parts of the script are on the wire. */
  sent: Promise<void>;
}

export interface ModelServer {
  url: string;
  key: string;
  requests: RecordedRequest[];
  /** Bodies of the uploaded files, as text; the n-th gets the id `file-<n>`. */
  files: string[];
  /** Refuses the next file with this status. */
  refuseFile(status: number): void;
  enqueue(script: Script): ScriptHandle;
  /** Drops the answers that no request has received. */
  clearQueue(): void;
  /** Chooses the answer by the request, regardless of order; undefined falls back to the queue. */
  answerBy(choose: (request: RecordedRequest) => Script | undefined): void;
  /** Resolves to the n-th request, counted from 1, when it has arrived. */
  waitForRequest(n: number): Promise<RecordedRequest>;
  /** Resolves when the client of the n-th request has disconnected. */
  waitForAbort(n: number): Promise<void>;
  /** Base URL of a provider type, in the form that the config expects. */
  baseUrl(type?: WireType): string;
  /** `providers`, `models` and `default_model` for `config.toml`, alias `fake/fake-1`. */
  providerConfig(options?: { type?: WireType; model?: Record<string, unknown> }): {
    providers: Record<string, Record<string, unknown>>;
    models: Record<string, Record<string, unknown>>;
    default_model: string;
  };
  close(): Promise<void>;
}

/** Starts the server on 127.0.0.1 and a free port; `close()` resets open connections. */
export async function startModelServer(): Promise<ModelServer> {
  const key = 'fake-key';
  const requests: RecordedRequest[] = [];
  const files: string[] = [];
  const refusals: number[] = [];
  const queue: { script: Script; sent: () => void; released: Promise<void> }[] = [];
  let choose: (request: RecordedRequest) => Script | undefined = () => undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request);
    const path = request.url ?? '/';
    if (path.endsWith('/files')) {
      files.push(text);
      const status = refusals.shift();
      const answer = status === undefined ? { id: `file-${files.length}` } : { error: { message: 'refused' } };
      sendJson(response, status ?? 200, answer);
      return;
    }
    const format = formatOf(path);
    if (!format) {
      response.writeHead(404).end();
      return;
    }
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = JSON.parse(text) as Record<string, unknown>;
    const recorded = { format, method: request.method ?? '', path, headers, body, aborted: false };
    const chosen = choose(recorded);
    const next = chosen ? { script: chosen, sent: () => {}, released: Promise.resolve() } : queue.shift();
    requests.push(recorded);
    response.on('close', () => {
      recorded.aborted = !response.writableFinished;
    });
    if (!next) {
      sendJson(response, 400, { error: { message: 'model server: nothing enqueued', type: 'invalid_request_error' } });
      return;
    }
    await play(next, format, response);
  }

  async function play(next: (typeof queue)[number], format: WireFormat, response: ServerResponse): Promise<void> {
    const { script, sent, released } = next;
    if (script.hang) return;
    const encoding = encodings[format];
    if (script.status !== undefined && script.status !== 200) {
      const error = script.error ?? `scripted failure ${script.status}`;
      sendJson(
        response,
        script.status,
        typeof error === 'string' ? encoding.error(script.status, error) : error,
        script.headers,
      );
      return;
    }
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache', ...script.headers });
    const { parts, end } = script.events ? { parts: script.events.map(encodeEvent), end: [] } : encoding.stream(script);
    for (const event of parts) {
      response.write(event);
      if (script.paceMs !== undefined) await delay(script.paceMs);
    }
    if (script.malformed) response.write(encoding.malformed);
    if (script.streamError) response.write(encoding.streamError(script.streamError));
    // The callback of an empty write runs after all earlier writes are flushed.
    await new Promise<void>((resolve) => response.write('\n', () => resolve()));
    sent();
    if (script.breakOff) {
      response.socket?.resetAndDestroy();
      return;
    }
    if (script.hold) await released;
    if (!script.noEnd && !script.malformed && !script.streamError) for (const event of end) response.write(event);
    response.end();
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error instanceof Error ? error : undefined));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function baseUrl(type: WireType = 'native'): string {
    return type === 'anthropic' || type === 'google-genai' || type === 'vertexai' ? url : `${url}/v1`;
  }

  return {
    url,
    key,
    requests,
    files,
    refuseFile: (status) => void refusals.push(status),
    baseUrl,
    enqueue(script) {
      let release = () => {};
      let sent = () => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      const handle = { release: () => release(), sent: new Promise<void>((resolve) => (sent = resolve)) };
      queue.push({ script, sent: () => sent(), released });
      return handle;
    },
    clearQueue: () => void queue.splice(0),
    answerBy(decide) {
      choose = decide;
    },
    waitForRequest: (n) => until(() => requests[n - 1], `request ${n}`),
    async waitForAbort(n) {
      await until(() => requests[n - 1]?.aborted, `abort of request ${n}`);
    },
    providerConfig({ type = 'native', model = {} } = {}) {
      return {
        providers: { fake: { type, base_url: baseUrl(type), api_key: key } },
        models: {
          'fake/fake-1': {
            provider: 'fake',
            model: 'fake-1',
            max_context_size: 262_144,
            capabilities: ['thinking', 'tool_use', 'image_in'],
            ...model,
          },
        },
        default_model: 'fake/fake-1',
      };
    },
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function formatOf(path: string): WireFormat | undefined {
  const [pathname = ''] = path.split('?');
  if (pathname.endsWith('/chat/completions')) return 'chat';
  if (pathname.endsWith('/responses')) return 'responses';
  if (pathname.endsWith('/v1/messages')) return 'anthropic';
  if (pathname.endsWith(':streamGenerateContent')) return 'google';
  return undefined;
}

function sendJson(response: ServerResponse, status: number, body: unknown, headers: Record<string, string> = {}): void {
  const text = JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk as Uint8Array));
  return Buffer.concat(chunks).toString('utf8');
}
