/** `POST /api/v2/sessions:archive` and `:restore`. */
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { sessionBatchSchema } from '#schema/rest/session-batch.ts';
import { sessionSchema, type Session } from '#schema/rest/session.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { eventually } from '#support/patience.ts';
import { startTalk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

type Action = 'archive' | 'restore';
const post = (action: string, body: unknown) => world.api('POST', `/api/v2/sessions:${action}`, body);
const batch = async (action: Action, ids: string[]) => sessionBatchSchema.parse((await post(action, { ids })).data);
const read = async (id: string) => sessionSchema.parse(await world.ok('GET', `/sessions/${id}`));
const isLive = (id: string) => world.server.app.sessions.liveRow(id) !== undefined;
const unknown = (id: string) => ({
  id,
  ok: false,
  error: { code: 40401, message: `session ${id} does not exist` },
});
const done = (id: string) => ({ id, ok: true });

/** Ids of the sessions that a list contains. */
async function listed(archived: boolean): Promise<string[]> {
  const { data } = await world.api(
    'GET',
    `/api/v2/sessions?meta.archived=${archived}&fields=id,archived&page_size=10000`,
  );
  return z
    .object({ items: z.array(z.object({ id: z.string() })) })
    .parse(data)
    .items.map(({ id }) => id);
}

async function coldSessions(count: number): Promise<Session[]> {
  const sessions: Session[] = [];
  for (let made = 0; made < count; made++) sessions.push(await world.session());
  await world.restart();
  return sessions;
}

async function stateOf(session: Session) {
  const text = await readFile(join(sessionFolder(world.server.home, session), 'state.json'), 'utf8');
  return z.looseObject({ archived: z.boolean() }).parse(JSON.parse(text));
}

describe('cold sessions', () => {
  it('are archived and restored without being loaded, and are listed so with the reply', async () => {
    const sessions = await coldSessions(3);
    const ids = sessions.map(({ id }) => id);
    const before = await Promise.all(ids.map(read));
    expect(await batch('archive', ids)).toEqual({ results: ids.map(done), succeeded: 3, failed: 0 });
    expect(await listed(true)).toEqual(expect.arrayContaining(ids));
    expect(await listed(false)).not.toEqual(expect.arrayContaining(ids.slice(0, 1)));
    for (const session of sessions)
      expect(await stateOf(session)).toMatchObject({ archived: true, archivedAt: expect.any(Number) });
    const archived = await Promise.all(ids.map(read));
    expect(archived.map(({ updated_at }) => updated_at)).toEqual(before.map(({ updated_at }) => updated_at));

    // Again: a success that changes nothing.
    expect(await batch('archive', ids)).toMatchObject({ succeeded: 3 });
    expect(await Promise.all(ids.map(read))).toEqual(archived);

    expect(await batch('restore', ids)).toEqual({ results: ids.map(done), succeeded: 3, failed: 0 });
    expect(await Promise.all(ids.map(read))).toEqual(before);
    for (const session of sessions) {
      expect(await stateOf(session)).toMatchObject({ archived: false });
      expect(await stateOf(session)).not.toHaveProperty('archivedAt');
    }
    expect(ids.map(isLive)).toEqual([false, false, false]);
    expect(await batch('restore', ids)).toMatchObject({ succeeded: 3 });
  });

  it('publish an event for each archived one, none for those that are archived already or restored', async () => {
    const ids = (await coldSessions(2)).map(({ id }) => id);
    const talk = await startTalk(world);
    await batch('archive', ids.slice(0, 1));
    await batch('archive', ids);
    await batch('restore', ids);
    await world.ok('POST', `${talk.path}:archive`);
    const own = (id: unknown) => id === talk.session.id;
    await talk.events.waitFor(({ type, payload }) => type === 'event.session.archived' && own(payload.sessionId));
    const events = talk.events.frames.filter(({ type }) => type === 'event.session.archived');
    expect(events.map(({ payload }) => payload.sessionId)).toEqual([...ids, talk.session.id]);
  });

  it('fail individually when they cannot be written', async () => {
    const [broken, whole] = await coldSessions(2);
    if (!broken || !whole) throw new Error('no sessions');
    const state = join(sessionFolder(world.server.home, broken), 'state.json');
    await rm(dirname(state), { recursive: true });
    await mkdir(join(state, '..', '..'), { recursive: true });
    await writeFile(dirname(state), 'in the way');
    const { results, succeeded, failed } = await batch('archive', [broken.id, whole.id]);
    expect(results).toEqual([
      { id: broken.id, ok: false, error: { code: 50001, message: expect.stringContaining('cannot be written') } },
      done(whole.id),
    ]);
    expect([succeeded, failed]).toEqual([1, 1]);
    expect(await read(broken.id)).toMatchObject({ archived: false });
  });
});

describe('live sessions', () => {
  it('end their turns and are unloaded; a live one stays loaded when it is restored', async () => {
    const talk = await startTalk(world);
    world.model.enqueue({ hang: true });
    await talk.prompt('Wait');
    await talk.nth('turn.step.started', 1);
    const { id } = talk.session;
    expect(await batch('archive', [id])).toMatchObject({ succeeded: 1 });
    expect(isLive(id)).toBe(false);
    expect(await read(id)).toMatchObject({ archived: true, busy: false, last_turn_reason: 'cancelled' });
    // Loaded, still archived.
    await world.ok('GET', `${talk.path}/prompts`);
    expect(isLive(id)).toBe(true);
    expect(await batch('restore', [id])).toMatchObject({ succeeded: 1 });
    expect(isLive(id)).toBe(true);
    expect(await read(id)).toMatchObject({ archived: false });
  });

  it.each<Action>(['archive', 'restore'])('%s runs in order with loads, forks and creations', async (action) => {
    const sessions = await coldSessions(6);
    const ids = sessions.map(({ id }) => id);
    if (action === 'restore') await batch('archive', ids);
    for (let round = 0; round < 5; round++) {
      const others = ids.flatMap((id, place) => [
        world.api('GET', `/sessions/${id}/prompts`),
        place % 2 === 0 ? world.api('POST', `/sessions/${id}:fork`, {}) : world.api('POST', `/sessions/${id}:archive`),
        world.api('POST', '/sessions', { metadata: { cwd: world.project } }),
      ]);
      const [result, ...replies] = await Promise.all([batch(action, ids), ...others]);
      expect(result).toMatchObject({ succeeded: 6, failed: 0 });
      expect(replies.map(({ code, msg }) => [code, msg])).toEqual(replies.map(() => [0, 'success']));
      await batch(action === 'archive' ? 'restore' : 'archive', ids);
    }
    // The sessions still work, and files and index agree.
    await batch('restore', ids);
    for (const session of sessions) {
      expect(await world.api('POST', `/sessions/${session.id}/prompts`, {})).toMatchObject({ code: 40001 });
      expect(await stateOf(session)).toMatchObject({ archived: false });
    }
  });
});

describe('ids', () => {
  it('are answered once each, in the order of their first appearance', async () => {
    const { id } = await world.session();
    expect(await batch('archive', ['b', id, 'a', 'b', id])).toEqual({
      results: [unknown('b'), done(id), unknown('a')],
      succeeded: 1,
      failed: 2,
    });
  });

  it('may all be unknown', async () => {
    const ids = Array.from({ length: 5_000 }, (_, place) => `session_${place}`);
    const result = await batch('archive', ids);
    expect(result).toMatchObject({ succeeded: 0, failed: 5_000 });
    expect(result.results).toEqual(ids.map(unknown));
  });

  it('have their duplicates removed before their number is checked', async () => {
    const { id } = await world.session();
    const many = Array.from({ length: 20_000 }, () => id);
    expect(await batch('archive', many)).toEqual({ results: [done(id)], succeeded: 1, failed: 0 });
    const distinct = Array.from({ length: 5_001 }, (_, place) => `s${place}`);
    expect(await post('archive', { ids: distinct })).toMatchObject({ code: 40001, details: [{ path: 'ids' }] });
    expect(await post('archive', { ids: distinct.map((one, place) => (place === 0 ? 's1' : one)) })).toMatchObject({
      code: 0,
    });
  });

  it.each([
    [{}, 'ids'],
    [{ ids: [] }, 'ids'],
    [{ ids: 'session' }, 'ids'],
    [{ ids: ['a', ''] }, 'ids.1'],
    [{ ids: [1] }, 'ids.0'],
  ])('%j are refused', async (body, path) => {
    for (const action of ['archive', 'restore']) {
      expect(await post(action, body)).toMatchObject({ code: 40001, details: [{ path }], data: null });
    }
  });

  it('of another action are refused', async () => {
    expect(await post('bogus', { ids: ['a'] })).toMatchObject({
      code: 40001,
      msg: expect.stringMatching(/^unsupported action: /),
    });
  });
});

it('continues after the client has disconnected', async () => {
  const ids = (await coldSessions(40)).map(({ id }) => id);
  const { url, token } = world.server;
  const body = JSON.stringify({ ids });
  const headers = {
    authorization: `Bearer ${token}`,
    'content-type': 'application/json',
    'content-length': body.length,
  };
  const sent = request(`${url}/api/v2/sessions:archive`, { method: 'POST', headers });
  sent.on('error', () => undefined);
  sent.end(body);
  // Half-way: at least one is archived.
  await eventually(async () => expect((await listed(true)).some((id) => ids.includes(id))).toBe(true));
  sent.destroy();
  await eventually(async () => expect(await listed(true)).toEqual(expect.arrayContaining(ids)));
});
