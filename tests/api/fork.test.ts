/** Forks and children: sessions that begin as copies of others. */
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, resumeTalk, startTalk, wireMessages, wireText } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';
import { sessionSchema, type Session } from '#schema/session.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const fork = async (id: string, body?: unknown): Promise<Session> =>
  sessionSchema.parse(await world.ok('POST', `/sessions/${id}:fork`, body));
const createChild = async (id: string, body?: unknown): Promise<Session> =>
  sessionSchema.parse(await world.ok('POST', `/sessions/${id}/children`, body));
const folderOf = ({ id, workspace_id }: Session) => join(world.server.home, 'sessions', workspace_id, id);

test('a fork goes on from what was said, and neither hears of the other', async () => {
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

test('children are listed with their parent, and say whose they are', async () => {
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
