/** Sessions after a crash, after a restart, damaged, and shared by several servers of one home. */
import { appendFile, cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { messageSchema } from '#schema/rest/message.ts';
import { promptSchema } from '#schema/rest/prompt.ts';
import { sessionSchema, type Session } from '#schema/rest/session.ts';
import { crashedHome } from '#support/crash.ts';
import { deadOwner } from '#support/lease-holder.ts';
import { eventually } from '#support/patience.ts';
import { startServer, type TestServer, type TestServerOptions } from '#support/server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

let world: World;
/** Called in reverse order. */
let cleanups: (() => Promise<unknown>)[];
beforeEach(async () => {
  world = await startWorld();
  cleanups = [];
});
afterEach(async () => {
  for (const cleanup of cleanups.toReversed()) await cleanup();
  await world.close();
});

const pageSchema = z.object({ items: z.array(sessionSchema) });
const messagesSchema = z.object({ items: z.array(messageSchema) });

async function serverAt(home: string, options: TestServerOptions = {}): Promise<TestServer> {
  const server = await startServer({ ...options, home });
  cleanups.push(() => server.close());
  return server;
}

async function read(server: TestServer, { id }: Session): Promise<Session> {
  return sessionSchema.parse((await server.api('GET', `/sessions/${id}`)).data);
}

const journalOf = (home: string, session: Session) => join(sessionFolder(home, session), 'journal.ndjson');

async function messagesOf(server: TestServer, { id }: Session) {
  const { data } = await server.api('GET', `/sessions/${id}/messages?page_size=100`);
  return messagesSchema.parse(data).items.toReversed();
}

describe('a crash in mid-turn', () => {
  /** A turn in which one call runs and one waits for its approval, with a queued prompt. */
  async function openTurn(): Promise<Talk> {
    const talk = await startTalk(world);
    await talk.turn('First', [{ text: 'One.' }]);
    world.model.enqueue({
      text: 'Running both.',
      calls: [
        { name: 'Bash', args: { command: 'cat a.txt; sleep 60' }, id: 'call_runs' },
        { name: 'Bash', args: { command: 'rm a.txt' }, id: 'call_waits' },
      ],
    });
    await talk.prompt('Second');
    const first = await talk.approval();
    await talk.answer(first.approval_id, { decision: 'approved' });
    await talk.nth('tool.call.started', 1);
    await talk.approval(2);
    await talk.prompt('Third');
    await talk.nth('prompt.queued', 1);
    return talk;
  }

  async function crash(talk: Talk): Promise<string> {
    const home = await crashedHome(world.server.home, talk.session);
    cleanups.push(() => rm(home, { recursive: true, force: true }));
    return home;
  }

  it('is settled at the start of the next server: the turn has ended, each call has one result', async () => {
    const talk = await openTurn();
    const seen = (await world.snapshot(talk.session.id)).as_of_seq;
    const { epoch } = await world.snapshot(talk.session.id);
    const server = await serverAt(await crash(talk));
    expect(await read(server, talk.session)).toMatchObject({
      busy: false,
      main_turn_active: false,
      pending_interaction: 'none',
      last_turn_reason: 'cancelled',
      last_prompt: 'Third',
    });
    const messages = await messagesOf(server, talk.session);
    const results = messages.flatMap(({ content }) => content.filter(({ type }) => type === 'tool_result'));
    expect(results).toEqual(
      ['call_runs', 'call_waits'].map((tool_call_id) => ({
        type: 'tool_result',
        tool_call_id,
        output: expect.stringContaining('interrupted'),
        is_error: true,
      })),
    );

    // The session is loaded by now, so the next client receives only replayed events.
    const prompts = await server.api('GET', `/sessions/${talk.session.id}/prompts`);
    expect(prompts.data).toEqual({ active: null, queued: [] });
    // A page that reconnects with its cursor receives the changes by events only.
    const client = await watch(server, talk.session, { seq: seen, epoch });
    await client.waitFor(({ type }) => type === 'event.session.work_changed');
    expect(client.durable(talk.session.id).map(({ seq, type }) => [seq, type])).toEqual([
      [seen + 1, 'tool.result'],
      [seen + 2, 'event.approval.resolved'],
      [seen + 3, 'turn.step.interrupted'],
      [seen + 4, 'turn.ended'],
      [seen + 5, 'prompt.aborted'],
      [seen + 6, 'prompt.aborted'],
      [seen + 7, 'event.session.work_changed'],
    ]);

    const snapshot = z
      .object({
        as_of_seq: z.number(),
        epoch: z.string(),
        in_flight_turn: z.null(),
        pending_approvals: z.array(z.json()),
      })
      .parse((await server.api('GET', `/sessions/${talk.session.id}/snapshot`)).data);
    expect(snapshot).toEqual({ as_of_seq: seen + 7, epoch, in_flight_turn: null, pending_approvals: [] });
    // No turn starts without a request, and the session continues.
    const requests = world.model.requests.length;
    world.model.enqueue({ text: 'On it goes.' });
    const content = [{ type: 'text', text: 'Fourth' }];
    expect((await server.api('POST', `/sessions/${talk.session.id}/prompts`, { content })).code).toBe(0);
    await client.waitFor(({ type }) => type === 'prompt.completed');
    expect(world.model.requests).toHaveLength(requests + 1);
    await abort(talk);
  });

  it('a client that reconnects with its cursor receives the settlement in order, each event a single time', async () => {
    const talk = await openTurn();
    const { as_of_seq: seen, epoch } = await world.snapshot(talk.session.id);
    const server = await serverAt(await crash(talk));
    const client = await watch(server, talk.session, { seq: 2, epoch });
    await client.waitFor(({ type, seq }) => type === 'event.session.work_changed' && (seq ?? 0) > seen);
    const seqs = client.durable(talk.session.id).map(({ seq }) => seq);
    expect(seqs).toEqual(Array.from({ length: seen + 7 - 2 }, (_, index) => index + 3));
    await abort(talk);
  });

  it('is settled in the background if a turn is open in the index', async () => {
    const talk = await openTurn();
    const home = await crash(talk);
    await cp(join(world.server.home, 'cache'), join(home, 'cache'), { recursive: true });
    const server = await serverAt(home);
    await eventually(async () => {
      expect(await read(server, talk.session)).toMatchObject({ busy: false, last_turn_reason: 'cancelled' });
    });
    await abort(talk);
  });

  it('tolerates a torn last line and settles the records before it', async () => {
    const talk = await openTurn();
    const home = await crash(talk);
    await appendFile(journalOf(home, talk.session), '{"t":1,"r":[{"seq":99');
    const server = await serverAt(home);
    expect(await read(server, talk.session)).toMatchObject({ last_turn_reason: 'cancelled' });
    expect((await server.api('GET', `/sessions/${talk.session.id}/snapshot`)).code).toBe(0);
    expect((await server.api('GET', `/sessions/${talk.session.id}/prompts`)).code).toBe(0);
    expect(await readFile(journalOf(home, talk.session), 'utf8')).not.toContain('"seq":99');
    await abort(talk);
  });

  async function abort(talk: Talk): Promise<void> {
    await world.ok('POST', `${talk.path}:abort`);
    await talk.nth('prompt.aborted', 1);
  }
});

/** Every file in a folder, with its text. */
async function contents(folder: string): Promise<[string, string][]> {
  const names = (await readdir(folder, { recursive: true })).toSorted();
  return Promise.all(names.map(async (name) => [name, await readFile(join(folder, name), 'utf8').catch(() => '')]));
}

async function watch(server: TestServer, { id }: Session, cursor: object): Promise<WsClient> {
  const client = await connect(server);
  cleanups.push(() => client.close());
  await client.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: cursor } } });
  return client;
}

describe('a damaged journal', () => {
  async function damage(home: string, session: Session): Promise<number> {
    const path = journalOf(home, session);
    const lines = (await readFile(path, 'utf8')).split('\n');
    const offset = Buffer.byteLength(`${lines.slice(0, 3).join('\n')}\n`);
    lines[3] = lines[3]?.slice(0, -1) ?? '';
    await writeFile(path, lines.join('\n'));
    return offset;
  }

  it.each(['with its index', 'without its index', 'after a crash, without its index'])(
    'refuses to load and is still listed, %s',
    async (how) => {
      const talk = await startTalk(world);
      await talk.turn('Hi', [{ text: 'Hello.' }]);
      const before = await read(world.server, talk.session);
      let { home } = world.server;
      await world.server.close();
      if (how.startsWith('after a crash')) {
        home = await crashedHome(home, talk.session);
        cleanups.push(() => rm(home, { recursive: true, force: true }));
        // The lock of a killed process.
        const lock = join(sessionFolder(home, talk.session), 'lock.1');
        await writeFile(lock, deadOwner());
      }
      const offset = await damage(home, talk.session);
      if (how !== 'with its index') await rm(join(home, 'cache'), { recursive: true, force: true });
      const server = await serverAt(home);
      expect(await read(server, talk.session)).toEqual(before);
      expect(pageSchema.parse((await server.api('GET', '/sessions')).data).items).toEqual([before]);
      for (const path of ['/snapshot', '/status', '/messages', '/prompts']) {
        expect(await server.api('GET', `/sessions/${talk.session.id}${path}`)).toMatchObject({
          status: 200,
          code: 50001,
          msg: `the session's journal is damaged at byte ${offset}`,
          data: null,
        });
      }
      const content = [{ type: 'text', text: 'Hi' }];
      expect((await server.api('POST', `/sessions/${talk.session.id}/prompts`, { content })).code).toBe(50001);
      // Undamaged sessions still work.
      const { data } = await server.api('POST', '/sessions', { metadata: { cwd: world.project } });
      expect(sessionSchema.parse(data).id).not.toBe(talk.session.id);
    },
  );
});

it.each(['with its index', 'without its index'])(
  'an empty journal is treated as damaged, not as a new session, %s',
  async (how) => {
    const talk = await startTalk(world);
    await talk.turn('First', [{ text: 'One.' }]);
    const { id } = talk.session;
    const { home } = world.server;
    await world.server.close();
    await writeFile(journalOf(home, talk.session), '');
    if (how !== 'with its index') await rm(join(home, 'cache'), { recursive: true, force: true });
    const server = await serverAt(home);
    const content = [{ type: 'text', text: 'Second' }];
    const answers = [
      await server.api('GET', `/sessions/${id}/messages`),
      await server.api('GET', `/sessions/${id}/snapshot`),
      await server.api('POST', `/sessions/${id}/prompts`, { content }),
    ];
    for (const answer of answers) {
      expect(answer).toMatchObject({ code: 50001, msg: "the session's journal is damaged at byte 0" });
    }
    expect(await readFile(journalOf(home, talk.session), 'utf8')).toBe('');
    expect(await read(server, talk.session)).toMatchObject({ id });
  },
);

describe('two servers on one home', () => {
  const content = [{ type: 'text', text: 'Hi' }];
  let other: TestServer;
  let talk: Talk;
  let path: string;
  beforeEach(async () => {
    other = await serverAt(world.server.home);
    talk = await startTalk(world);
    ({ path } = talk);
  });

  it('each immediately sees the sessions of the other and their changes', async () => {
    expect(await read(other, talk.session)).toEqual(talk.session);
    const { data } = await other.api('POST', '/sessions', { metadata: { cwd: world.project }, title: 'Theirs' });
    const theirs = sessionSchema.parse(data);
    const list = async (server: TestServer) =>
      pageSchema.parse((await server.api('GET', '/sessions')).data).items.map(({ title }) => title);
    expect(await list(world.server)).toEqual(await list(other));
    expect(await read(world.server, theirs)).toEqual(theirs);
    await talk.turn('Mine', [{ text: 'Yes.' }]);
    const turned = await read(world.server, talk.session);
    expect(await read(other, talk.session)).toEqual(turned);
    expect(await list(other)).toEqual(['Mine', 'Theirs']);
    expect(await other.api('GET', '/workspaces')).toMatchObject({ data: { items: [{ session_count: 2 }] } });
  });

  it('a session that the other server loaded follows the writer', async () => {
    expect((await other.api('GET', `${path}/prompts`)).code).toBe(0);
    const held = world.model.enqueue({ text: 'Hello.', hold: true });
    await talk.prompt('Hi');
    const snapshot = await other.api('GET', `${path}/snapshot`);
    expect(snapshot.data).toMatchObject({ session: { busy: true, main_turn_active: true, last_prompt: 'Hi' } });
    expect(await read(other, talk.session)).toMatchObject({ busy: true, last_prompt: 'Hi' });
    held.release();
    await talk.nth('prompt.completed', 1);
    expect(await read(other, talk.session)).toEqual(await read(world.server, talk.session));
    expect((await other.api('GET', '/sessions?busy=true')).data).toEqual({ items: [], has_more: false });
    expect((await other.api('GET', `${path}/messages`)).data).toEqual(
      (await world.api('GET', `${path}/messages`)).data,
    );
  });

  it('a session that the other server did not load is folded for each answer, and stays unloaded', async () => {
    const calls = [{ name: 'Bash', args: { command: 'rm a.txt' } }];
    world.model.enqueue({ text: 'Deleting.', calls });
    const held = world.model.enqueue({ text: 'Never mind.', hold: true });
    await talk.prompt('Hi');
    const approval = await talk.approval();
    const { as_of_seq, epoch, messages } = await world.snapshot(talk.session.id);
    const snapshot = async () => (await other.api('GET', `${path}/snapshot`)).data;
    expect(await snapshot()).toMatchObject({
      as_of_seq,
      epoch,
      messages,
      session: { busy: true, main_turn_active: true, pending_interaction: 'approval', last_prompt: 'Hi' },
      // Only the process that runs the turn has its texts.
      in_flight_turn: null,
      pending_approvals: [approval],
    });
    const approvals = async () => (await other.api('GET', `${path}/approvals?status=pending`)).data;
    expect(await approvals()).toEqual({ items: [approval] });
    expect((await other.api('GET', `${path}/status`)).data).toEqual(await world.ok('GET', `${path}/status`));
    await talk.answer(approval.approval_id, { decision: 'rejected' });
    expect(await approvals()).toEqual({ items: [] });
    held.release();
    await talk.nth('prompt.completed', 1);
    expect(await snapshot()).toEqual(await world.snapshot(talk.session.id));
    expect(other.app.sessions.liveRow(talk.session.id)).toBeUndefined();
  });

  it('only the writer accepts prompts; the other names it, and takes over after it has stopped', async () => {
    await talk.turn('Hi', [{ text: 'Hello.' }]);
    const held = `session ${talk.session.id} is held by process ${process.pid}; use that server, or stop it first`;
    for (const [tail, body] of [
      ['/prompts', { content }],
      ['/profile', { title: 'Theirs' }],
      ['/profile', { agent_config: { permission_mode: 'yolo' } }],
      ['/approvals/approval_1', { decision: 'approved' }],
      ['/questions/question_1', { answers: {} }],
      ['/questions/question_1:dismiss', undefined],
      ['/prompts/msg_1:abort', undefined],
      [':abort', undefined],
    ] as const) {
      const answer = await other.api('POST', path + tail, body);
      expect(answer).toMatchObject({ status: 200, code: 40901, msg: held, data: null });
    }
    for (const tail of ['', '/snapshot', '/status', '/messages', '/prompts', '/approvals?status=pending']) {
      expect((await other.api('GET', path + tail)).code).toBe(0);
    }
    const before = await read(world.server, talk.session);
    await world.server.close();
    expect(await read(other, talk.session)).toEqual(before);
    world.model.enqueue({ text: 'Hello again.' });
    const client = await watch(other, talk.session, { seq: 0 });
    const prompt = promptSchema.parse((await other.api('POST', `${path}/prompts`, { content })).data);
    await client.waitFor(({ type, payload }) => type === 'prompt.completed' && payload.promptId === prompt.prompt_id);
    const seqs = client.durable(talk.session.id).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
  });

  it('archive and metadata need no lock and are not lost, regardless of the next writer', async () => {
    await talk.turn('Hi', [{ text: 'Hello.' }]);
    expect((await other.api('POST', `${path}/profile`, { metadata: { theirs: 1 } })).code).toBe(0);
    expect((await other.api('POST', `${path}:archive`)).code).toBe(0);
    const archived = await read(other, talk.session);
    expect(archived).toMatchObject({ archived: true, metadata: { theirs: 1 } });
    expect(await read(world.server, talk.session)).toEqual(archived);
    // Loaded there from now on, in its current state.
    expect((await other.api('GET', `${path}/prompts`)).code).toBe(0);
    await world.ok('POST', `${path}/profile`, { metadata: { mine: 2 } });
    await talk.turn('Again', [{ text: 'Hello.' }]);
    for (const server of [world.server, other]) {
      expect(await read(server, talk.session)).toMatchObject({
        archived: true,
        archived_at: archived.archived_at,
        metadata: { theirs: 1, mine: 2 },
        last_prompt: 'Again',
      });
    }
    const file = join(sessionFolder(world.server.home, talk.session), 'state.json');
    const before = await readFile(file, 'utf8');
    expect(JSON.parse(before)).toMatchObject({ archived: true, custom: { theirs: 1, mine: 2 } });
    // A reader does not write the files; the writer updates them within seconds, at the latest at its stop.
    await other.close();
    cleanups = [];
    expect(await readFile(file, 'utf8')).toBe(before);
    await world.server.close();
    const state: unknown = JSON.parse(await readFile(file, 'utf8'));
    expect(state).toMatchObject({ archived: true, lastPrompt: 'Again', custom: { theirs: 1, mine: 2 } });
  });
});

describe('cold and live', () => {
  it('reads do not load, including folding ones; possible changes do', async () => {
    const talk = await startTalk(world);
    const { prompt } = await talk.turn('Hi', [{ text: 'Hello.' }]);
    const live = () => world.server.app.sessions.liveRow(talk.session.id) !== undefined;
    const folded = [
      'snapshot',
      'status',
      'messages',
      `messages/${prompt.prompt_id}`,
      'approvals?status=pending',
      'questions?status=pending',
      'warnings',
      'goal',
      'runtime',
    ].map((tail) => `${talk.path}/${tail}`);
    const whileLive = await Promise.all(folded.slice(1).map((path) => world.ok('GET', path)));
    await world.restart();
    const folder = sessionFolder(world.server.home, talk.session);
    const before = await contents(folder);
    for (const path of ['/sessions', talk.path, `${talk.path}/profile`, '/workspaces', ...folded]) {
      await world.ok('GET', path);
      expect([path, live()]).toEqual([path, false]);
    }
    expect(await Promise.all(folded.slice(1).map((path) => world.ok('GET', path)))).toEqual(whileLive);
    expect(await contents(folder)).toEqual(before);
    await world.ok('GET', `${talk.path}/prompts`);
    expect(live()).toBe(true);
  });

  it('a missing message or session is reported as not found without loading', async () => {
    const talk = await startTalk(world);
    await world.restart();
    const missing = await world.api('GET', `${talk.path}/messages/msg_none`);
    expect(missing).toMatchObject({
      code: 40403,
      msg: `message msg_none does not exist in session ${talk.session.id}`,
    });
    expect(await world.api('GET', '/sessions/session_none/snapshot')).toMatchObject({ code: 40401 });
    expect(world.server.app.sessions.liveRow(talk.session.id)).toBeUndefined();
  });

  it("reports the persisted outcome while cold, the journal's once loaded", async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'Hello.' }]);
    await world.server.close();
    const file = join(sessionFolder(world.server.home, talk.session), 'state.json');
    const state = z.looseObject({}).parse(JSON.parse(await readFile(file, 'utf8')));
    await writeFile(file, JSON.stringify({ ...state, lastTurnReason: 'failed' }));
    await rm(join(world.server.home, 'cache'), { recursive: true });
    await world.restart();
    expect(await read(world.server, talk.session)).toMatchObject({ last_turn_reason: 'failed' });
    // A fold returns the journal's outcome, and the session stays cold.
    expect((await world.snapshot(talk.session.id)).session).toMatchObject({ last_turn_reason: 'completed' });
    expect(await read(world.server, talk.session)).toMatchObject({ last_turn_reason: 'failed' });
    await world.ok('GET', `${talk.path}/prompts`);
    expect(await read(world.server, talk.session)).toMatchObject({ last_turn_reason: 'completed' });
  });

  it('concurrent loads are coalesced, emit nothing and keep updated_at', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'Hello.' }]);
    await world.restart();
    const before = await read(world.server, talk.session);
    const file = journalOf(world.server.home, talk.session);
    const journal = await readFile(file, 'utf8');
    const times = Array.from({ length: 10 });
    const answers = await Promise.all(times.map(() => world.snapshot(talk.session.id)));
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    await Promise.all(times.map(() => world.ok('GET', `${talk.path}/prompts`)));
    expect(await world.snapshot(talk.session.id)).toEqual(answers[0]);
    expect(await read(world.server, talk.session)).toEqual(before);
    await world.restart();
    expect(await readFile(file, 'utf8')).toBe(journal);
  });
});
