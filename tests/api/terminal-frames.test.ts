/** Terminals over the WebSocket: replay, several viewers, sizes, exit. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openTerminal, readTerminal, viewTerminal } from '#support/terminals.ts';
import { startServer } from '#support/server.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type ReceivedFrame, type WsClient } from '#support/ws-client.ts';

let world: World;
let sessionId: string;
const clients: WsClient[] = [];
beforeAll(async () => {
  world = await startWorld();
  ({ id: sessionId } = await world.session());
});
afterAll(async () => {
  await Promise.all(clients.map((client) => client.close()));
  await world.close();
});

/** Opens a connection without subscriptions. */
async function client(): Promise<WsClient> {
  const opened = await connect(world.server);
  clients.push(opened);
  return opened;
}
const numbers = (frames: readonly ReceivedFrame[]) => frames.flatMap(({ seq }) => seq ?? []);
const upTo = (last: number) => Array.from({ length: last }, (_, n) => n + 1);

test('output is numbered without gaps, replayed from a number on, and sent to every viewer', async () => {
  const terminal = await openTerminal(world, sessionId);
  const first = viewTerminal(await client(), terminal);
  expect(await first.send('attach')).toMatchObject({ code: 0, payload: { attached: true } });
  for (const word of ['one', 'two', 'three']) {
    expect(await first.send('input', { data: `echo ${word} $((1+1)).\n` })).toMatchObject({
      code: 0,
      payload: { accepted: true },
    });
    await first.until(new RegExp(`${word} 2\\.`));
  }
  const before = numbers(first.frames());
  expect(before).toEqual(upTo(before.length));

  const second = viewTerminal(await client(), terminal);
  const { payload } = await second.send('attach', { since_seq: 2 });
  // The prompt after the last line may have arrived meanwhile.
  const replayed = second.frames().length;
  expect(payload).toEqual({ attached: true, replayed });
  expect(replayed).toBeGreaterThanOrEqual(before.length - 2);
  expect(second.frames().slice(0, before.length - 2)).toEqual(first.frames().slice(2, before.length));

  await second.send('input', { data: 'echo four $((1+1)).\n' });
  await Promise.all([first.until(/four 2\./), second.until(/four 2\./)]);
  const last = Math.max(...numbers(first.frames()));
  expect(numbers(first.frames())).toEqual(upTo(last));
  const seen = numbers(second.frames());
  expect(seen).toEqual(seen.map((_, n) => n + 3));
  await first.send('close');
});

test('attaching again replaces the attachment; detaching stops the stream but not the shell', async () => {
  const terminal = await openTerminal(world, sessionId);
  const connection = await client();
  const viewed = viewTerminal(connection, terminal);
  await viewed.send('attach');
  await viewed.send('attach', { since_seq: 1_000_000 });
  await viewed.send('input', { data: 'echo $((20+1)).\n' });
  await viewed.until(/21\./);
  const seen = numbers(viewed.frames());
  expect(new Set(seen).size).toBe(seen.length);

  expect(await viewed.send('detach')).toMatchObject({ code: 0, payload: { detached: true } });
  expect(await viewed.send('detach')).toMatchObject({ code: 0, payload: { detached: true } });
  const before = viewed.frames().length;
  const other = viewTerminal(await client(), terminal);
  await other.send('attach');
  await viewed.send('input', { data: 'echo $((40+2)).\n' });
  await other.until(/42\./);
  await connection.send({ type: 'subscribe', payload: { session_ids: [] } });
  expect(viewed.frames()).toHaveLength(before);
  await viewed.send('attach', { since_seq: Math.max(...seen) });
  expect(viewed.text()).toMatch(/42\./);
  await viewed.send('close');
});

test('the program, REST and every viewer receive a new size a single time', async () => {
  const terminal = await openTerminal(world, sessionId);
  const [first, second] = [viewTerminal(await client(), terminal), viewTerminal(await client(), terminal)];
  await first.send('attach');
  await second.send('attach');
  expect(await first.send('resize', { cols: 132, rows: 43 })).toMatchObject({ code: 0, payload: { resized: true } });
  await first.send('resize', { cols: 132, rows: 43 });
  expect(await readTerminal(world, terminal)).toMatchObject({ cols: 132, rows: 43 });
  await second.send('input', { data: 'stty size\n' });
  await second.until(/43 132/);
  for (const viewed of [first, second]) {
    const sizes = viewed.frames().filter(({ type }) => type === 'terminal_resized');
    expect(sizes.map(({ payload }) => payload)).toEqual([{ cols: 132, rows: 43 }]);
  }
  const late = viewTerminal(await client(), terminal);
  await late.send('attach');
  expect(late.frames().map(({ type }) => type)).not.toContain('terminal_resized');
  await first.send('close');
  await first.send('resize', { cols: 10, rows: 10 });
  expect(await readTerminal(world, terminal)).toMatchObject({ cols: 132, rows: 43 });
});

test('each attachment receives the exit once, as the last frame, and later input is dropped', async () => {
  const terminal = await openTerminal(world, sessionId);
  const viewed = viewTerminal(await client(), terminal);
  await viewed.send('attach');
  await viewed.send('input', { data: 'echo last; exit 3\n' });
  expect(await viewed.exit()).toBe(3);
  const frames = viewed.frames();
  expect(frames.at(-1)?.type).toBe('terminal_exit');
  expect(await viewed.send('input', { data: 'echo no\n' })).toMatchObject({ code: 0, payload: { accepted: true } });
  expect(await viewed.send('close')).toMatchObject({ code: 0, payload: { closed: true } });
  expect(viewed.frames()).toHaveLength(frames.length);

  const late = viewTerminal(await client(), terminal);
  expect(await late.send('attach')).toMatchObject({ payload: { replayed: frames.length } });
  expect(late.frames()).toEqual(frames);
  expect(await late.send('attach', { since_seq: 1_000_000 })).toMatchObject({ payload: { replayed: 1 } });
  expect(late.frames().at(-1)).toEqual(frames.at(-1));
});

test('closing ends it for all viewers, without an exit code', async () => {
  const terminal = await openTerminal(world, sessionId);
  const [first, second] = [viewTerminal(await client(), terminal), viewTerminal(await client(), terminal)];
  await first.send('attach');
  await second.send('attach');
  expect(await first.send('close')).toMatchObject({ code: 0, payload: { closed: true } });
  expect(await first.send('close')).toMatchObject({ code: 0, payload: { closed: true } });
  expect(await second.exit()).toBeNull();
  expect(await readTerminal(world, terminal)).toMatchObject({ status: 'exited', exit_code: null });
});

test('frames contain whole characters, and the program receives text unmodified', async () => {
  const terminal = await openTerminal(world, sessionId);
  const viewed = viewTerminal(await client(), terminal);
  await viewed.send('attach');
  await viewed.send('input', { data: 'stty -echo; printf "\\033[1mrea%s" dy\n' });
  await viewed.until(/ready/);
  const line = '😀é€'.repeat(100);
  await viewed.send('input', {
    data: `i=0; while [ $i -lt 400 ]; do echo '${line}'; i=$((i+1)); done; echo ov$((0))er\n`,
  });
  await viewed.until(/ov0er/);
  const shown = viewed.text();
  expect(shown).not.toContain('\uFFFD');
  expect(shown.split(line)).toHaveLength(401);
  await viewed.send('close');
});

test('the last output of a program is complete, even if it is large', async () => {
  for (let round = 0; round < 5; round += 1) {
    const terminal = await openTerminal(world, sessionId);
    const viewed = viewTerminal(await client(), terminal);
    await viewed.send('attach');
    await viewed.send('input', { data: 'exec head -c 300000 /dev/zero\n' });
    expect(await viewed.exit()).toBe(0);
    expect(viewed.text().replaceAll(/[^\0]/g, '')).toHaveLength(300_000);
  }
});

test('refusals report the first error, in the order of the checks', async () => {
  const connection = await client();
  const send = (type: string, payload: object) => connection.send({ type, payload });
  const known = { session_id: sessionId, terminal_id: 'term_x' };
  const more = { data: 'x', cols: 80, rows: 24 };
  for (const type of ['attach', 'detach', 'input', 'resize', 'close'].map((name) => `terminal_${name}`)) {
    expect(await send(type, { ...more, session_id: 'session_none', terminal_id: '' })).toMatchObject({ code: 40001 });
    expect(await send(type, { ...known, ...more, session_id: 'session_none' })).toMatchObject({ code: 40401 });
    expect(await send(type, { ...known, ...more })).toMatchObject({
      code: 40414,
      msg: `terminal term_x does not exist in session ${sessionId}`,
    });
  }
  expect(await send('terminal_attach', { ...known, since_seq: -1 })).toMatchObject({
    code: 40001,
    payload: { details: [{ path: 'since_seq' }] },
  });
  expect(await send('terminal_input', known)).toMatchObject({ payload: { details: [{ path: 'data' }] } });
  expect(await send('terminal_resize', { ...known, cols: 0, rows: 1.5 })).toMatchObject({
    payload: { details: [{ path: 'cols' }, { path: 'rows' }] },
  });
});

test('where the bind offers no terminals, none is found', async () => {
  const server = await startServer({ host: '0.0.0.0' });
  const connection = await connect(server);
  for (const type of ['attach', 'detach', 'close']) {
    const payload = { session_id: 'session_none', terminal_id: 'term_x' };
    expect(await connection.send({ type: `terminal_${type}`, payload })).toMatchObject({ code: 40414 });
  }
  await connection.close();
  await server.close();
});
