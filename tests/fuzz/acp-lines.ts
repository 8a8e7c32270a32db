/**
 * Fuzz target: an editor sends any line, such as a damaged request. Each line gets the reply that JSON-RPC prescribes,
 * one or none, every line of the output is a message, and the bridge continues.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { ReadableStream, WritableStream } from 'node:stream/web';
import { setImmediate as turn } from 'node:timers/promises';
import { ndJsonStream } from '@agentclientprotocol/sdk';
import { createClient } from '@service-code/client';
import * as fc from 'fast-check';
import * as z from 'zod';
import { edited, sometimes, textEdits, valueEdits } from '#support/arbitraries.ts';
import { startAgent } from '../../clients/acp/agent.ts';

const PATIENCE_TURNS = 10_000;
const SENTINEL = 'sentinel';

const asBytes = (text: string): string => Buffer.from(text).toString('latin1');

const METHODS: [string, Record<string, unknown>][] = [
  ['initialize', { protocolVersion: 1, clientCapabilities: { elicitation: { form: {} } }, clientInfo: null }],
  [
    'session/new',
    { cwd: '/', mcpServers: [{ name: 'a', command: 'a', args: [], env: [] }], additionalDirectories: ['/'] },
  ],
  ['session/load', { cwd: '/', mcpServers: [{ type: 'http', name: 'a', url: 'x', headers: [] }], sessionId: 's' }],
  ['session/resume', { cwd: '/', sessionId: 's' }],
  ['session/list', { cwd: '/', cursor: 'x' }],
  ['session/close', { sessionId: 's' }],
  [
    'session/prompt',
    {
      sessionId: 's',
      prompt: [
        { type: 'text', text: 'x' },
        { type: 'resource_link', name: 'a', uri: 'file:///a' },
      ],
    },
  ],
  ['session/cancel', { sessionId: 's' }],
  ['session/set_mode', { sessionId: 's', modeId: 'plan' }],
  ['session/set_config_option', { sessionId: 's', configId: 'model', value: 'x' }],
  ['session/delete', { sessionId: 's' }],
  ['authenticate', { methodId: 'x' }],
  ['$/cancel_request', { requestId: 1 }],
  ['no/such', {}],
];
const VALUES: unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  1e308,
  '',
  'x',
  '/',
  '../a',
  '\u0000',
  '\ud800',
  '\u2028',
  '😀',
  '__proto__',
  [],
  [[]],
  {},
  { type: 'text' },
  { __proto__: null },
  'x'.repeat(5000),
  '2.0',
  'initialize',
];
const IDS: unknown[] = [0, 1, -1, 1.5, 'a', '', null, true, {}, []];
const RAW = [
  '',
  ' ',
  'null',
  '[]',
  '[{}]',
  '"text"',
  '7',
  '{',
  '{}',
  '{"jsonrpc":"2.0"}',
  'Content-Length: 5',
  '\u0000',
  '\ufeff{}',
  '{"a":1}{"b":2}',
];

/** Bytes that end a text or a character early, as characters. */
const BYTES = ['', '\0', '"', '{', '}', '\xff', '\xc3', '\\'];

const changes = valueEdits(fc.constantFrom(...VALUES), ['id', 'params', '_meta', '__proto__']);
const calls = fc.oneof(
  ...METHODS.map(([method, params]) =>
    fc.record(
      {
        jsonrpc: fc.constant('2.0'),
        method: fc.constant(method),
        params: edited<unknown>(fc.constant(params), sometimes(2, changes)),
        id: fc.constantFrom(...IDS),
      },
      { requiredKeys: ['jsonrpc', 'method', 'params'] },
    ),
  ),
);
/** Lines in which each character is a byte, so that a damaged one is printed, too. */
const lines = fc.oneof(
  { weight: 1, arbitrary: fc.constantFrom(...RAW).map(asBytes) },
  {
    weight: 9,
    arbitrary: edited(
      edited<unknown>(calls, sometimes(6, changes)).map((message) => asBytes(JSON.stringify(message))),
      sometimes(5, fc.oneof(textEdits(BYTES, 1), textEdits([''], Number.MAX_SAFE_INTEGER))),
    ),
  },
);

type Expected = { id: unknown; codes?: number[] } | undefined;
const hasId = (value: object): value is { id: unknown } => 'id' in value;
const isId = (id: unknown) => id === null || typeof id === 'string' || (typeof id === 'number' && Number.isFinite(id));

/** The reply that a line gets; undefined for none. */
function expected(line: Uint8Array): Expected {
  const text = new TextDecoder().decode(line).trim();
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { id: null, codes: [-32700] };
  }
  const invalid = { id: null, codes: [-32600] };
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return invalid;
  const isCall = 'jsonrpc' in value && value.jsonrpc === '2.0' && 'method' in value && typeof value.method === 'string';
  if (isCall && hasId(value) && isId(value.id)) return { id: value.id };
  if (isCall && !hasId(value)) return undefined;
  const isReply = !('method' in value) && ('id' in value || 'result' in value || 'error' in value);
  return isReply ? undefined : invalid;
}

const replySchema = z.strictObject({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string(), z.number(), z.null()]),
  result: z.unknown().optional(),
  error: z.strictObject({ code: z.int(), message: z.string().min(1), data: z.unknown().optional() }).optional(),
});

/** A bridge whose server never answers. */
function startBridge() {
  let output = '';
  let send: (chunk: Uint8Array) => void = () => {};
  const input = new ReadableStream<Uint8Array>({
    start: (controller) => void (send = (chunk) => controller.enqueue(chunk)),
  });
  const written = new WritableStream<Uint8Array>({ write: (chunk) => void (output += Buffer.from(chunk).toString()) });
  class Silent {
    send() {}
    close() {}
    addEventListener() {}
  }
  const client = createClient({
    baseUrl: 'http://127.0.0.1:9/',
    token: () => undefined,
    WebSocket: Silent,
    fetch: () => Promise.reject(new Error('no server')),
  });
  const link = {
    url: 'http://127.0.0.1:9/',
    client,
    ready: async () => {},
    serverId: async () => 'server',
    onLost: () => () => {},
    close() {},
  };
  startAgent({ stream: ndJsonStream(written, input), link, version: '0', log: () => {} });
  return {
    send: (line: Uint8Array) => send(Buffer.concat([line, Buffer.from('\n')])),
    lines: () => output.split('\n').slice(0, -1),
    forget: () => void (output = ''),
  };
}

type Bridge = ReturnType<typeof startBridge>;

async function replies(bridge: Bridge, count: number): Promise<z.infer<typeof replySchema>[]> {
  for (let turns = 0; turns < PATIENCE_TURNS && bridge.lines().length < count; turns += 1) await turn();
  return bridge.lines().map((line) => replySchema.parse(JSON.parse(line)));
}

/** The SDK reports unexpected messages on the console. */
async function silently<T>(run: () => Promise<T>): Promise<T> {
  const { error } = console;
  Object.assign(console, { error: () => {} });
  try {
    return await run();
  } finally {
    Object.assign(console, { error });
  }
}

/** All cases use one bridge; a failure replaces it, so that smaller lines are tried without the consequences. */
let bridge: Bridge | undefined;

/** Fails when the reply to the line of an editor differs from that of the protocol, or the bridge does not continue. */
export const acpLines = fc.asyncProperty(lines, async (text) => {
  const used = (bridge ??= startBridge());
  bridge = undefined;
  const line = Buffer.from(text, 'latin1');
  const reply = expected(line);
  used.forget();
  used.send(line);
  const initialize = { jsonrpc: '2.0', id: SENTINEL, method: 'initialize', params: { protocolVersion: 1 } };
  used.send(Buffer.from(JSON.stringify(initialize)));
  const received = await silently(() => replies(used, reply ? 2 : 1));
  const others = received.filter(({ id }) => id !== SENTINEL);
  strictEqual(received.length - others.length, 1, 'no reply to the next request');
  deepStrictEqual(
    others.map(({ id }) => id),
    reply ? [reply.id] : [],
  );
  for (const { result, error } of others) {
    ok((result === undefined) !== (error === undefined), 'either a result or an error');
    if (reply?.codes) ok(error && reply.codes.includes(error.code), `the code ${error?.code}`);
  }
  bridge = used;
});
