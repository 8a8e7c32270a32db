/** Archive and restore. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { promptSchema } from '#schema/rest/prompt.ts';
import { sessionSchema } from '#schema/rest/session.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { startTalk, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const read = async (talk: Talk) => sessionSchema.parse(await world.ok('GET', talk.path));
const archive = (talk: Talk, body?: unknown) => world.ok('POST', `${talk.path}:archive`, body);
const live = (talk: Talk) => world.server.app.sessions.liveRow(talk.session.id) !== undefined;
const archivedEvents = (talk: Talk) =>
  talk.events.frames.filter(
    ({ type, payload }) => type === 'event.session.archived' && payload.sessionId === talk.session.id,
  );

describe('archive', () => {
  it('hides an idle session, publishes it a single time and unloads it', async () => {
    const talk = await startTalk(world);
    expect(await archive(talk, { ignored: [1] })).toEqual({ archived: true });
    const archived = await read(talk);
    const { archived_at } = archived;
    expect(archived).toEqual({ ...talk.session, archived: true, archived_at });
    expect(live(talk)).toBe(false);
    const frame = await talk.events.waitFor(({ type }) => type === 'event.session.archived');
    expect(frame).toMatchObject({
      session_id: '__global__',
      payload: { workspace_id: talk.session.workspace_id, sessionId: talk.session.id },
    });
    // Idempotent: the same answer, no second event, the same time.
    expect(await archive(talk)).toEqual({ archived: true });
    expect((await read(talk)).archived_at).toBe(archived_at);
    await world.ok('POST', '/workspaces', { root: world.project });
    await talk.events.waitFor(({ type }) => type === 'event.workspace.updated');
    expect(archivedEvents(talk)).toHaveLength(1);
  });

  it('ends a hanging turn, drops the queue and leaves the session cold and idle', async () => {
    const talk = await startTalk(world);
    await talk.turn('First', [{ text: 'One' }]);
    world.model.enqueue({ hang: true });
    const running = await talk.prompt('Second');
    const queued = await talk.prompt('Third');
    await talk.nth('turn.step.started', 2);
    await talk.nth('prompt.queued', 1);
    const before = talk.events.durable(talk.session.id).length;
    await archive(talk);
    expect(await read(talk)).toMatchObject({
      archived: true,
      busy: false,
      main_turn_active: false,
      last_turn_reason: 'cancelled',
      last_prompt: 'Third',
    });
    expect(live(talk)).toBe(false);
    await talk.events.waitFor(({ type }) => type === 'event.session.archived');
    const told = talk.events.durable(talk.session.id).slice(before);
    expect(told.map(({ type }) => type)).toEqual([
      'turn.step.interrupted',
      'turn.ended',
      'event.session.work_changed',
      'prompt.aborted',
      'event.session.work_changed',
      'prompt.aborted',
      'agent.disposed',
    ]);
    expect(told[1]?.payload).toMatchObject({ reason: 'cancelled', interruptReason: 'aborted' });
    expect([told[3], told[5]].map((frame) => frame?.payload.promptId)).toEqual([running.prompt_id, queued.prompt_id]);
    expect(await world.ok('GET', `${talk.path}/prompts`)).toEqual({ active: null, queued: [] });
  });

  it('does not load a cold session, not even a damaged one', async () => {
    const talk = await startTalk(world);
    await world.restart();
    await writeFile(join(sessionFolder(world.server.home, talk.session), 'journal.ndjson'), 'damaged\n');
    await archive(talk);
    expect(await read(talk)).toMatchObject({ archived: true });
    expect(live(talk)).toBe(false);
    // Restoring loads the session, so it fails and changes nothing.
    expect(await world.api('POST', `${talk.path}:restore`)).toMatchObject({ code: 50001 });
    expect(await read(talk)).toMatchObject({ archived: true });
  });

  it('does not change updated_at, and persists over a restart', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'One' }]);
    const { updated_at } = await read(talk);
    await archive(talk);
    const archived = await read(talk);
    expect(archived.updated_at).toBe(updated_at);
    await world.restart();
    expect(await read(talk)).toEqual(archived);
    const state: unknown = JSON.parse(
      await readFile(join(sessionFolder(world.server.home, talk.session), 'state.json'), 'utf8'),
    );
    expect(state).toMatchObject({ archived: true, archivedAt: Date.parse(archived.archived_at ?? '') });
  });

  it('is not undone by reading or prompting', async () => {
    const talk = await startTalk(world);
    await archive(talk);
    await world.snapshot(talk.session.id);
    expect(live(talk)).toBe(false);
    await world.ok('GET', `${talk.path}/prompts`);
    expect(live(talk)).toBe(true);
    await talk.turn('Hi', [{ text: 'One' }]);
    expect(await read(talk)).toMatchObject({ archived: true, last_prompt: 'Hi', last_turn_reason: 'completed' });
  });

  it('concurrent calls run sequentially', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'One' }]);
    const calls = Array.from({ length: 6 }, (_, n) =>
      world.api('POST', `${talk.path}:${n % 2 ? 'restore' : 'archive'}`),
    );
    const reads = Array.from({ length: 6 }, () => world.api('GET', `${talk.path}/snapshot`));
    for (const answer of await Promise.all([...calls, ...reads])) expect(answer.code).toBe(0);
  });
});

describe('a prompt sent while its session is archived', () => {
  it('runs before or after, and appends no record after the journal is closed', async () => {
    const talk = await startTalk(world);
    const accepted: string[] = [];
    for (let round = 0; round < 40; round++) {
      world.model.enqueue({ text: `Answer ${round}.` });
      const prompt = world.api('POST', `${talk.path}/prompts`, {
        content: [{ type: 'text', text: `Prompt ${round}` }],
      });
      // Each round archives at a later point of the submit.
      for (let turns = 0; turns < round % 20; turns++) await new Promise((resolve) => setImmediate(resolve));
      const [submitted, archived, restored] = await Promise.all([
        prompt,
        world.api('POST', `${talk.path}:archive`),
        world.api('POST', `${talk.path}:restore`),
      ]);
      expect([submitted, archived, restored].map(({ code, msg }) => [code, msg])).toEqual(
        Array.from({ length: 3 }, () => [0, 'success']),
      );
      const { prompt_id } = promptSchema.parse(submitted.data);
      await talk.settled(prompt_id);
      accepted.push(prompt_id);
    }
    const ends = talk.events
      .durable(talk.session.id)
      .filter(({ type }) => type === 'prompt.completed' || type === 'prompt.aborted');
    expect(ends.map(({ payload }) => payload.promptId)).toEqual(accepted);
    await archive(talk);
    const path = join(sessionFolder(world.server.home, talk.session), 'journal.ndjson');
    const records = (await readFile(path, 'utf8')).trim().split('\n').slice(1).flatMap(recordTypes);
    const behind = records.flatMap((type, place) => (type === 'session.closed' ? [records[place + 1]] : []));
    expect(new Set(behind)).toEqual(new Set(['session.opened', undefined]));
  });
});

const recordTypes = (line: string): string[] =>
  z
    .object({ r: z.array(z.looseObject({ type: z.string() })) })
    .parse(JSON.parse(line))
    .r.map(({ type }) => type);

describe('restore', () => {
  it('un-archives, loads, publishes no event and keeps updated_at', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'One' }]);
    const before = await read(talk);
    await archive(talk);
    const { as_of_seq, epoch } = await world.snapshot(talk.session.id);
    const { data } = await world.api('POST', `${talk.path}:restore`, { ignored: 1 });
    expect(data).toEqual(before);
    expect(data).not.toHaveProperty('archived_at');
    expect(live(talk)).toBe(true);
    // Idempotent: the same answer, no change.
    expect(await world.ok('POST', `${talk.path}:restore`)).toEqual(before);
    expect(await world.snapshot(talk.session.id)).toMatchObject({ as_of_seq, epoch });
    await world.restart();
    expect(await read(talk)).toEqual(before);
  });

  it('continues the event stream for existing subscriptions', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hi', [{ text: 'One' }]);
    await archive(talk);
    await world.ok('POST', `${talk.path}:restore`);
    await talk.turn('Again', [{ text: 'Two' }]);
    const seqs = talk.events.durable(talk.session.id).map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
    expect(talk.all('agent.created')).toHaveLength(2);
  });
});
