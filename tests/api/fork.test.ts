/** Forks and children: sessions that start as copies of others. */
import { readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crashedHome } from '#support/crash.ts';
import { startServer } from '#support/server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { upload } from '#support/uploads.ts';
import { call, resumeTalk, startTalk, wireMessages, wireText } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { sessionSchema, type Session } from '#schema/rest/session.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const fork = async (id: string, body?: unknown): Promise<Session> =>
  sessionSchema.parse(await world.ok('POST', `/sessions/${id}:fork`, body));
const createChild = async (id: string, body?: unknown): Promise<Session> =>
  sessionSchema.parse(await world.ok('POST', `/sessions/${id}/children`, body));
const folderOf = (session: Session) => sessionFolder(world.server.home, session);

test('a fork continues from the copied conversation, independently of the original', async () => {
  const talk = await startTalk(world);
  const long = 'long text '.repeat(3000);
  await talk.turn('The word is plum', [{ calls: [call('Read', { path: 'a.txt' })] }, { text: long }]);
  const source = sessionSchema.parse(await world.ok('GET', talk.path));
  const seqs = talk.events.durable(source.id).length;
  const copy = await fork(source.id);
  expect(copy).toMatchObject({
    title: `Fork: ${source.title}`,
    last_prompt: 'The word is plum',
    last_turn_reason: 'completed',
    updated_at: source.updated_at,
    workspace_id: source.workspace_id,
    metadata: source.metadata,
    archived: false,
  });
  expect(copy.created_at > source.created_at).toBe(true);
  const messages = await talk.messages();
  const copied = await world.messages(copy.id);
  const own = (id: string) => id.replace(source.id, copy.id);
  expect(copied).toEqual(messages.map((message) => ({ ...message, id: own(message.id), session_id: copy.id })));
  const copyTalk = await resumeTalk(world, copy);
  await copyTalk.turn('Which word?', [{ text: 'Plum.' }]);
  expect(wireMessages(world, -1).map(wireText)).toContain(long);
  expect(copyTalk.events.durable(copy.id)[0]).toMatchObject({ type: 'event.session.created', seq: 1 });
  expect(copyTalk.all('turn.started').map(({ payload }) => payload.turnId)).toEqual([1]);
  expect(talk.events.durable(source.id)).toHaveLength(seqs);
  expect(await talk.messages()).toEqual(messages);
  const [blobs, copiedBlobs] = [join(folderOf(source), 'blobs'), join(folderOf(copy), 'blobs')];
  for (const name of await readdir(blobs)) {
    expect((await stat(join(copiedBlobs, name))).ino).toBe((await stat(join(blobs, name))).ino);
  }
});

test('children are listed with their parent and have its id in their metadata', async () => {
  const parent = await world.session({ metadata: { cwd: world.project, own: 1 } });
  const child = await createChild(parent.id, {
    metadata: { parent_session_id: 'session_other', child_session_kind: 'x', goal: 1, more: 2 },
  });
  expect(child.title).toBe(`Child: ${parent.id}`);
  expect(child.metadata).toEqual({
    own: 1,
    more: 2,
    parent_session_id: parent.id,
    child_session_kind: 'child',
    cwd: world.project,
  });
  const list = async (query = '') =>
    ((await world.ok('GET', `/sessions/${parent.id}/children${query}`)) as { items: Session[] }).items;
  expect((await list()).map(({ id }) => id)).toEqual([child.id]);
  expect(await world.ok('GET', `/sessions/${child.id}/children`)).toEqual({ items: [], has_more: false });
  const copy = await fork(child.id);
  expect(copy.metadata).toEqual({ own: 1, more: 2, cwd: world.project });
  await world.ok('POST', `/sessions/${parent.id}:archive`);
  expect((await list()).map(({ id }) => id)).toEqual([child.id]);
  await world.ok('POST', `/sessions/${child.id}:archive`);
  expect(await list()).toEqual([]);
});

test('a running turn of any agent refuses the copy; a running task continues in the original and is lost in the copy', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }], { permission_mode: 'yolo' });
  const { agent_id } = (await world.ok('POST', `${talk.path}:btw`)) as { agent_id: string };
  const held = world.model.enqueue({ text: 'Aside.', hold: true });
  const { prompt_id } = await world.prompt(talk.session.id, 'Aside?', { agent_id });
  await held.sent;
  for (const path of [`${talk.path}:fork`, `${talk.path}/children`]) {
    expect(await world.api('POST', path, {})).toMatchObject({
      code: 40901,
      msg: `Session "${talk.session.id}" cannot be forked while a turn is running`,
    });
  }
  held.release();
  await talk.settled(prompt_id);
  const sleep = { command: 'sleep 30', run_in_background: true, description: 'Long' };
  await talk.turn('Two', [{ calls: [call('Bash', sleep)] }, { text: 'Begun.' }]);
  const copy = await fork(talk.session.id);
  expect(copy.busy).toBe(false);
  expect((await talk.status()).busy).toBe(true);
  const tasks = async (id: string) => ((await world.ok('GET', `/sessions/${id}/tasks`)) as { items: unknown[] }).items;
  expect(await tasks(copy.id)).toMatchObject([{ description: 'Long', status: 'failed' }]);
  expect(await tasks(talk.session.id)).toMatchObject([{ description: 'Long', status: 'running' }]);
  const told = (await world.messages(copy.id)).filter(({ metadata }) => metadata?.origin.kind === 'task');
  expect(told).toHaveLength(1);
  const { items, tasks: shown } = (await world.ok('GET', `/sessions/${copy.id}/transcript?agent_id=main`)) as {
    items: unknown[];
    tasks: { state: string }[];
  };
  const { items: original } = (await world.ok('GET', `${talk.path}/transcript?agent_id=main`)) as { items: unknown[] };
  expect(items).toEqual(original);
  expect(shown.map(({ state }) => state)).toEqual(['lost']);
  const { items: running } = (await world.ok('GET', `${talk.path}/tasks`)) as { items: { id: string }[] };
  await world.ok('POST', `${talk.path}/tasks/${running[0]?.id}:cancel`);
});

test('a goal is not copied, and the copy gets a reminder of that', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  await world.ok('POST', `${talk.path}/profile`, { agent_config: { goal_objective: 'Ship it' } });
  const copy = await fork(talk.session.id, { title: 'Elsewhere' });
  expect(await world.ok('GET', `/sessions/${copy.id}/goal`)).toBeNull();
  expect(await world.ok('GET', `${talk.path}/goal`)).toMatchObject({ objective: 'Ship it' });
  const last = (await world.messages(copy.id)).at(-1);
  expect(last?.metadata?.origin).toMatchObject({ kind: 'injection', variant: 'goal_fork_cleared' });
  await world.ok('POST', `${talk.path}/profile`, { agent_config: { goal_control: 'cancel' } });
});

test('an archived or crashed session can be copied without loading it', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  await world.ok('POST', `${talk.path}:archive`);
  const archived = sessionSchema.parse(await world.ok('GET', talk.path));
  const copy = await fork(talk.session.id);
  expect(copy.archived).toBe(false);
  expect(await world.ok('GET', talk.path)).toEqual(archived);
  expect((await readdir(folderOf(talk.session))).filter((name) => name.startsWith('lock'))).toHaveLength(1);
  expect((await readdir(folderOf(copy))).filter((name) => name.startsWith('lock'))).toEqual([]);

  const cut = await startTalk(world);
  const held = world.model.enqueue({ text: 'Half of', hold: true });
  await world.prompt(cut.session.id, 'Two');
  await held.sent;
  const home = await crashedHome(world.server.home, cut.session);
  held.release();
  const server = await startServer({ home });
  try {
    const answer = await server.api('POST', `${cut.path}:fork`);
    const made = sessionSchema.parse(answer.data);
    expect(made).toMatchObject({ busy: false, last_turn_reason: 'cancelled', last_prompt: 'Two' });
    const { data } = await server.api('GET', `/sessions/${made.id}/transcript?agent_id=main`);
    expect(data).toMatchObject({ items: [{ turnId: 't0', state: 'cancelled' }, { marker: 'interruption' }] });
  } finally {
    await server.close();
    await rm(home, { recursive: true, force: true });
  }
});

test('a failed copy leaves no files and no index row', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  await world.ok('POST', `${talk.path}:archive`);
  const { home } = world.server;
  const workspace = join(home, 'sessions', talk.session.workspace_id);
  const journal = join(folderOf(talk.session), 'journal.ndjson');
  const [header, ...lines] = (await readFile(journal, 'utf8')).split('\n');
  await writeFile(journal, [header, 'no line', ...lines].join('\n'));
  const before = (await readdir(workspace)).toSorted();
  const listed = await world.ok('GET', '/sessions?include_archive=true');
  expect(await world.api('POST', `${talk.path}:fork`)).toMatchObject({ code: 50001 });
  expect((await readdir(workspace)).toSorted()).toEqual(before);
  expect(await world.ok('GET', '/sessions?include_archive=true')).toEqual(listed);
});

test('files of prompts are copied; reading files of the original needs no approval', async () => {
  const talk = await startTalk(world);
  const { id } = await upload(world.server, { filename: 'notes.txt', content: 'notes\n' });
  world.model.enqueue({ text: 'Seen.' });
  const content = [
    { type: 'text', text: 'Read this' },
    { type: 'file', file_id: id, name: 'notes.txt', media_type: 'text/plain', size: 6 },
  ];
  await world.prompt(talk.session.id, '', { content });
  await talk.nth('prompt.completed', 1);
  await symlink('/etc', join(folderOf(talk.session), 'agents'));
  const copy = await fork(talk.session.id);
  await world.ok('DELETE', `/files/${id}`);
  const kept = await world.server.fetch(`/api/v1/sessions/${copy.id}/media/${id}`);
  expect(await kept.text()).toBe('notes\n');
  expect(await readdir(folderOf(copy))).not.toContain('agents');
  const [attached = ''] = await readdir(join(folderOf(talk.session), 'attachments'));
  const other = await world.session();
  const copyTalk = await resumeTalk(world, copy);
  const reads = [
    call('Read', { path: join(folderOf(talk.session), 'attachments', attached) }, 'call_ancestor'),
    call('Read', { path: join(folderOf(other), 'journal.ndjson') }, 'call_other'),
  ];
  const { results } = await copyTalk.turn('Read it', [{ calls: reads }, { text: 'Read.' }]);
  expect(results.toSorted((a, b) => (a.toolCallId < b.toolCallId ? -1 : 1))).toMatchObject([
    { isError: false, output: expect.stringContaining('notes') },
    { isError: true, output: expect.stringContaining('not accessible to tools') },
  ]);
  expect(copyTalk.all('event.approval.requested')).toEqual([]);
});

test('another server can copy a session that this one owns, unless a turn runs', async () => {
  const talk = await startTalk(world);
  await talk.turn('One', [{ text: 'First.' }]);
  const server = await startServer({ home: world.server.home });
  try {
    const answer = await server.api('POST', `${talk.path}:fork`);
    expect(answer).toMatchObject({ code: 0, data: { last_prompt: 'One' } });
    const held = world.model.enqueue({ text: 'Second.', hold: true });
    const { prompt_id } = await world.prompt(talk.session.id, 'Two');
    await held.sent;
    expect(await server.api('POST', `${talk.path}:fork`)).toMatchObject({ code: 40901 });
    expect(await server.api('POST', `${talk.path}:undo`)).toMatchObject({ code: 40901 });
    held.release();
    await talk.settled(prompt_id);
    const [{ id }] = [sessionSchema.parse(answer.data)];
    await expect.poll(async () => (await world.api('GET', `/sessions/${id}`)).code).toBe(0);
    expect(await world.messages(id)).toHaveLength(3);
  } finally {
    await server.close();
  }
});

test('children are paged, newest first, and filtered by busy', async () => {
  const parent = await world.session();
  const made: string[] = [];
  for (let n = 0; n < 3; n += 1) made.push((await createChild(parent.id, { title: `${n}` })).id);
  const ids = async (query: string) => {
    const page = (await world.ok('GET', `/sessions/${parent.id}/children${query}`)) as {
      items: Session[];
      has_more: boolean;
    };
    return [page.items.map(({ id }) => id), page.has_more];
  };
  const order = made.toSorted().toReversed();
  expect(await ids('')).toEqual([order, false]);
  expect(await ids('?page_size=2')).toEqual([order.slice(0, 2), true]);
  expect(await ids(`?page_size=2&before_id=${order[1]}`)).toEqual([order.slice(2), false]);
  expect(await ids(`?after_id=${order[1]}`)).toEqual([order.slice(0, 1), false]);
  expect(await ids('?busy=true')).toEqual([[], false]);
  expect(await ids('?busy=false')).toEqual([order, false]);
  expect(await world.api('GET', '/sessions/session_none/children')).toMatchObject({ code: 40401 });
  expect(await world.api('GET', `/sessions/${parent.id}/children?page_size=101`)).toMatchObject({ code: 40001 });
  expect(await world.api('POST', '/sessions/session_none/children', { title: '' })).toMatchObject({ code: 40001 });
  expect(await world.api('POST', '/sessions/session_none:fork', { title: '' })).toMatchObject({ code: 40401 });
  const all = (await world.ok('GET', '/sessions')) as { items: Session[] };
  expect(all.items.map(({ id }) => id)).toEqual(expect.arrayContaining(made));
});

test('copies created while the original continues contain whole turns', async () => {
  const talk = await startTalk(world);
  const server = await startServer({ home: world.server.home });
  try {
    const over = new AbortController();
    const copies: string[] = [];
    const copying = (async () => {
      while (!over.signal.aborted && copies.length < 20) {
        const { code, data } = await server.api('POST', `${talk.path}:fork`);
        expect([0, 40901]).toContain(code);
        if (code === 0) copies.push(sessionSchema.parse(data).id);
      }
    })();
    for (let n = 0; n < 6; n += 1) {
      await talk.turn(`Turn ${n}`, [{ calls: [call('Read', { path: 'a.txt' })] }, { text: `Done ${n}.` }]);
    }
    over.abort();
    await copying;
    const whole = (await talk.messages()).map(({ content }) => content);
    expect(copies.length).toBeGreaterThan(0);
    for (const id of copies) {
      const { data } = await server.api('GET', `/sessions/${id}/messages?page_size=100`);
      const { items } = data as { items: { content: unknown }[] };
      const copied = items.toReversed().map(({ content }) => content);
      expect(copied).toEqual(whole.slice(0, copied.length));
      const { data: page } = await server.api('GET', `/sessions/${id}/transcript?agent_id=main`);
      const turns = (page as { items: { state: string }[] }).items;
      expect(turns.every(({ state }) => state === 'completed')).toBe(true);
    }
  } finally {
    await server.close();
  }
});
