/** `run` when the server could not send it all events: `resync_required` in place of some of them. */
import { PassThrough } from 'node:stream';
import type { SocketConstructor, SocketLike } from '@service-code/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { callThenText } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { runPrompt, type RunOptions } from '../../clients/run/main.ts';

let world: World;
beforeAll(async () => {
  const hook = { event: 'UserPromptSubmit', matcher: 'secret', command: 'echo not here >&2; exit 2' };
  world = await startWorld({ config: { hooks: [hook] } });
});
afterAll(() => world.close());

const frameSchema = z.object({
  type: z.string(),
  session_id: z.string(),
  seq: z.number(),
  epoch: z.string().optional(),
  volatile: z.boolean().optional(),
});
type Frame = z.infer<typeof frameSchema>;

/** A socket that receives `resync_required` in place of the last of the events from `first` to `last`. */
const losing = (first: string, last: string): SocketConstructor => {
  let isLosing = false;
  /** The frame to be received instead; undefined if it is lost. */
  function received(text: string): string | undefined {
    const { data: frame } = frameSchema.safeParse(JSON.parse(text));
    if (!frame || frame.epoch === undefined || frame.volatile) return text;
    isLosing ||= frame.type === first;
    if (!isLosing) return text;
    isLosing = frame.type !== last;
    return isLosing ? undefined : resync(frame);
  }
  const resync = ({ session_id, seq: current_seq, epoch }: Frame) =>
    JSON.stringify({
      type: 'resync_required',
      timestamp: new Date().toISOString(),
      payload: { session_id, reason: 'buffer_overflow', current_seq, epoch },
    });

  return class {
    readonly #socket: WebSocket;
    constructor(url: string, protocols: string[] = []) {
      this.#socket = new WebSocket(url, protocols);
    }
    send(data: string) {
      this.#socket.send(data);
    }
    close(code?: number, reason?: string) {
      this.#socket.close(code, reason);
    }
    addEventListener(...[type, listener]: Parameters<InstanceType<SocketConstructor>['addEventListener']>) {
      if (type !== 'message') return this.#socket.addEventListener(type, listener);
      this.#socket.addEventListener('message', ({ data }) => {
        const text = received(String(data));
        if (text !== undefined) listener({ type, data: text });
      });
    }
  };
};

const resultSchema = z.object({
  reason: z.string(),
  text: z.string(),
  denied: z.array(z.object({ tool: z.string() })),
});

async function run(
  options: Pick<RunOptions, 'WebSocket'> & Partial<RunOptions>,
  onPrinted: (text: string) => void = () => {},
) {
  const stdout = new PassThrough();
  let printed = '';
  stdout.on('data', (piece) => {
    printed += String(piece);
    onPrinted(String(piece));
  });
  const code = await runPrompt({
    url: `${world.server.url}/`,
    token: world.server.token,
    cwd: world.project,
    continues: false,
    prompt: 'go',
    permissionMode: 'manual',
    files: [],
    approvals: 'deny',
    allowDenied: false,
    stdin: undefined,
    signal: new AbortController().signal,
    stdout,
    stderr: new PassThrough().resume(),
    json: true,
    ...options,
  });
  return { code, ...resultSchema.parse(JSON.parse(printed.trim().split('\n').at(-1) ?? '')) };
}

it('archives a new session when it ends before the prompt is sent', async () => {
  const interrupt = new AbortController();
  const silent = class implements SocketLike {
    send() {}
    close() {}
    addEventListener() {}
  };
  const { code } = await run({ WebSocket: silent, signal: interrupt.signal }, () => interrupt.abort());
  expect(code).toBe(130);
  expect(await world.ok('GET', '/sessions')).toMatchObject({ items: [] });
});

const removal = { command: 'rm -rf build' };

it.each([
  ['its request', 'event.approval.requested', 'event.approval.requested'],
  ['its turn and its request', 'turn.started', 'event.approval.requested'],
  ['its answer', 'event.approval.resolved', 'event.approval.resolved'],
])('rejects and counts a call when %s is lost', async (_, first, last) => {
  for (const script of callThenText('Bash', removal)) world.model.enqueue(script);
  expect(await run({ WebSocket: losing(first, last) })).toMatchObject({
    code: 3,
    reason: 'completed',
    denied: [{ tool: 'Bash' }],
  });
});

it.each([
  ['the end', 'prompt.completed', 'prompt.completed'],
  ['the whole turn', 'turn.started', 'prompt.completed'],
])('ends with the answer when %s is lost', async (_, first, last) => {
  world.model.enqueue({ text: 'Forty-two.' });
  const { code, text } = await run({ WebSocket: losing(first, last) });
  expect({ code, text }).toEqual({ code: 0, text: 'Forty-two.' });
});

it.each([
  ['blocked', 'a secret', 1, 'prompt.completed'],
  ['completed', 'Go', 0, 'turn.started'],
])('is %s as its own prompt in a session with an earlier turn', async (reason, prompt, code, first) => {
  const { id } = await world.session();
  world.model.enqueue({ text: 'The earlier answer.' });
  expect(await run({ WebSocket, session: id, prompt: 'Earlier' })).toMatchObject({ code: 0 });
  if (reason === 'completed') world.model.enqueue({ text: 'Its own answer.' });
  const found = await run({ WebSocket: losing(first, 'prompt.completed'), session: id, prompt });
  expect(found).toMatchObject({ code, reason, text: reason === 'completed' ? 'Its own answer.' : '' });
});

it('prints a request whose event was lost for the program that answers it', async () => {
  for (const script of callThenText('Bash', removal)) world.model.enqueue(script);
  const stdin = new PassThrough();
  const socket = losing('event.approval.requested', 'event.approval.requested');
  const { code } = await run({ WebSocket: socket, approvals: 'stdin', stdin }, (line) => {
    const id = /"event\.approval\.requested".*?"approval_id":"([^"]+)"/.exec(line)?.[1];
    if (id !== undefined) stdin.write(`${JSON.stringify({ approval_id: id, decision: 'rejected' })}\n`);
  });
  expect(code).toBe(3);
});
