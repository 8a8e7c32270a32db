/** The note pad over REST, by the agent, and as events. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { call, startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const read = (talk: Talk) => world.ok('GET', `${talk.path}/note`);
const write = (talk: Talk, content: string) => world.api('PUT', `${talk.path}/note`, { content });

test('is written over REST, and read without loading the session, also by a copy of it', async () => {
  const talk = await startTalk(world);
  expect(await read(talk)).toEqual({ content: '' });
  expect(await write(talk, 'Call Ann')).toMatchObject({ code: 0, data: { content: 'Call Ann' } });
  expect((await talk.nth('note.updated', 1)).payload).toMatchObject({ agentId: 'main', content: 'Call Ann' });
  await world.restart();
  expect(await read(talk)).toEqual({ content: 'Call Ann' });
  const { id } = (await world.ok('POST', `${talk.path}:fork`, {})) as { id: string };
  expect(await world.ok('GET', `/sessions/${id}/note`)).toEqual({ content: 'Call Ann' });
});

test('is written and read by the agent, without an approval', async () => {
  const talk = await startTalk(world);
  const { results } = await talk.turn('note', [
    { calls: [call('NotePad', { content: 'Buy milk' })] },
    { calls: [call('NotePad', {})] },
    { text: 'Done.' },
  ]);
  expect(results.map(({ output }) => output)).toEqual(['Written.', 'Buy milk']);
  expect(await read(talk)).toEqual({ content: 'Buy milk' });
});

test('its event arrives at followers of the transcript, which does not convey it', async () => {
  const talk = await startTalk(world);
  await talk.events.send({
    type: 'subscribe_v2',
    payload: { session_id: talk.session.id, transcript: { '*': 'delta' } },
  });
  await write(talk, 'Later');
  expect((await talk.nth('note.updated', 1)).payload).toMatchObject({ content: 'Later' });
});

test('refuses a note that is too long, and an unknown session', async () => {
  const talk = await startTalk(world);
  expect(await write(talk, 'x'.repeat(4001))).toMatchObject({ code: 40001, details: [{ path: 'content' }] });
  expect(await world.api('GET', '/sessions/none/note')).toMatchObject({ code: 40401 });
});

test('is part of the documents', async () => {
  const document = async (path: string): Promise<unknown> => (await world.server.fetch(path)).json();
  expect(await document('/openapi.json')).toMatchObject({
    tags: expect.arrayContaining([{ name: 'notes', description: 'The note of a session' }]),
    paths: { '/api/v1/sessions/{session_id}/note': { get: { tags: ['notes'] }, put: { tags: ['notes'] } } },
  });
  expect(JSON.stringify(await document('/asyncapi.json'))).toContain('"note.updated"');
});
