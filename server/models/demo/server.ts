/** HTTP server of the demo model. It serves the native protocol, so the client treats it as any provider. */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { newUlid } from '#server/ids.ts';
import { tryParseJson } from '#server/text/json.ts';
import * as z from 'zod';
import { estimateText } from '#server/journal/token-estimate.ts';
import { demoAnswer, type DemoAnswer, type DemoInput } from './rules.ts';

const MODEL = 'demo-1';
const ALIAS = `demo/${MODEL}`;
const CHUNK_PACE_MS = 12;
const BODY_LIMIT_BYTES = 32 * 1024 * 1024;
const CONTEXT_TOKENS = 131_072;

export interface DemoModel {
  /** Base URL of the native provider type. */
  url: string;
  key: string;
  /** `providers`, `models` and `default_model` in the spelling of `config.toml`, for the in-memory layer. */
  configLayer: {
    providers: Record<string, { type: 'native'; base_url: string; api_key: string }>;
    models: Record<string, Record<string, unknown>>;
    default_model: string;
  };
  /** Aborts running responses and closes the listener. */
  close(): Promise<void>;
}

/** Listens on 127.0.0.1, on a free port; each request must carry the random key. */
export async function startDemoModel(): Promise<DemoModel> {
  const key = randomBytes(24).toString('base64url');
  const server = createServer((request, response) => {
    serve(request, response, key).catch((error: unknown) => {
      response.destroy(error instanceof Error ? error : undefined);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  return {
    url,
    key,
    configLayer: {
      providers: { demo: { type: 'native', base_url: url, api_key: key } },
      models: {
        [ALIAS]: {
          provider: 'demo',
          model: MODEL,
          display_name: 'Demo model (scripted, not a real model)',
          max_context_size: CONTEXT_TOKENS,
          capabilities: ['thinking', 'tool_use'],
        },
      },
      default_model: ALIAS,
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

const textContent = z
  .union([z.string(), z.array(z.looseObject({ type: z.string(), text: z.string().optional() }))])
  .nullish();
const requestSchema = z.object({
  messages: z.array(
    z.looseObject({
      role: z.string(),
      content: textContent,
      tool_calls: z.array(z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string() }) })).optional(),
      tool_call_id: z.string().optional(),
    }),
  ),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).default([]),
  thinking: z.looseObject({ type: z.string() }).optional(),
});
type DemoRequest = z.infer<typeof requestSchema>;

async function serve(request: IncomingMessage, response: ServerResponse, key: string): Promise<void> {
  if (!authorized(request.headers.authorization, key)) return fail(response, 401, 'wrong key');
  if (request.method !== 'POST' || request.url !== '/v1/chat/completions') return fail(response, 404, 'no such path');
  const body = await readBody(request);
  if (body === undefined) return fail(response, 413, 'request body too large');
  const json = tryParseJson(body);
  if (json === undefined) return fail(response, 400, 'the body is no JSON');
  const parsed = requestSchema.safeParse(json);
  if (!parsed.success) return fail(response, 400, z.prettifyError(parsed.error));
  const answer = demoAnswer(inputOf(parsed.data));
  if (answer.error !== undefined) return fail(response, 400, answer.error);
  await stream(response, answer, parsed.data.thinking?.type !== 'disabled', estimateText(body));
}

function authorized(header: string | undefined, key: string): boolean {
  const given = Buffer.from(header ?? '');
  const wanted = Buffer.from(`Bearer ${key}`);
  return given.length === wanted.length && timingSafeEqual(given, wanted);
}

/** Start of the message that replaces a compacted conversation. */
const SUMMARY = 'The conversation up to here was replaced by the summary below';

/** Extracts the user's prompts, without reminders, and the tool results since the last one. */
function inputOf({ messages, tools }: DemoRequest): DemoInput {
  const prompts: string[] = [];
  let since = 0;
  for (const [i, message] of messages.entries()) {
    const text = textOf(message);
    if (message.role !== 'user' || text.startsWith('<system') || text.startsWith(SUMMARY)) continue;
    prompts.push(text);
    since = i;
  }
  const names = new Map<string, string>();
  const results: DemoInput['results'] = [];
  for (const message of messages.slice(since)) {
    for (const call of message.tool_calls ?? []) names.set(call.id, call.function.name);
    if (message.role !== 'tool') continue;
    results.push({ name: names.get(message.tool_call_id ?? '') ?? '', output: textOf(message) });
  }
  return { prompt: prompts.at(-1) ?? '', prompts, results, tools: new Set(tools.map((tool) => tool.function.name)) };
}

function textOf({ content }: DemoRequest['messages'][number]): string {
  if (typeof content === 'string') return content;
  return (content ?? []).map((part) => part.text ?? '').join('\n');
}

/** Sends small chunks with pauses, so that streaming is visible. */
async function stream(
  response: ServerResponse,
  answer: DemoAnswer,
  thinks: boolean,
  inputTokens: number,
): Promise<void> {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' });
  const id = `chatcmpl-${newUlid()}`;
  const send = (fields: Record<string, unknown>) =>
    response.write(`data: ${JSON.stringify({ id, object: 'chat.completion.chunk', model: MODEL, ...fields })}\n\n`);
  const delta = (value: Record<string, unknown>, finish: string | null = null) =>
    send({ choices: [{ index: 0, delta: value, finish_reason: finish }] });

  async function words(text: string, paceMs: number, emit: (chunk: string) => void): Promise<void> {
    for (const [chunk] of text.matchAll(/\s*\S+\s*?|\s+/g)) {
      if (gone.signal.aborted) return;
      emit(chunk);
      await pause(paceMs, undefined, { signal: gone.signal }).catch(() => {});
    }
  }

  const { think, text = '', calls = [], paceMs = CHUNK_PACE_MS } = answer;
  if (think && thinks) await words(think, paceMs, (chunk) => delta({ reasoning_content: chunk }));
  await words(text, paceMs, (chunk) => delta({ content: chunk }));
  for (const [index, call] of calls.entries()) {
    const head = { index, id: `call_${newUlid()}`, type: 'function', function: { name: call.name, arguments: '' } };
    delta({ tool_calls: [head] });
    await words(JSON.stringify(call.args), paceMs, (chunk) =>
      delta({ tool_calls: [{ index, function: { arguments: chunk } }] }),
    );
  }
  if (gone.signal.aborted) return;
  delta({}, calls.length > 0 ? 'tool_calls' : 'stop');
  const output = estimateText((think ?? '') + text + JSON.stringify(calls));
  send({
    choices: [],
    usage: { prompt_tokens: inputTokens, completion_tokens: output, total_tokens: inputTokens + output },
  });
  response.end('data: [DONE]\n\n');
}

function fail(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error' } });
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(body);
}

/** Undefined when it is larger than the limit. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk as Uint8Array);
    size += bytes.length;
    if (size > BODY_LIMIT_BYTES) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}
