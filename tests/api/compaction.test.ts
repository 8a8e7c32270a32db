/** Compactions over a real server: the endpoint, the state that clients read afterwards, hooks, and crashes. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { readContext } from '#server/journal/projections/context.ts';
import { transcriptPageSchema } from '#schema/rest/transcript.ts';
import { crashedHome } from '#support/crash.ts';
import { startServer } from '#support/server.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { openLog } from '#support/session-logs.ts';
import { callThenText, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld({ modelRecord: { max_context_size: 100_000 } });
});
afterAll(() => world.close());

const summary = '## Task\nLook at a.txt.';
const summarized = { text: summary, usage: { input: 100, output: 10 } };
const fills = { input: 90_000, output: 10 };

/** Text of the last model request. */
const lastRequest = () => wireMessages(world, -1).map(wireText).join('\n');

/** Requests a compaction and waits for its end. */
async function compact(talk: Talk, body: object = {}): Promise<void> {
  const done = talk.all('compaction.completed').length;
  expect(await world.ok('POST', `${talk.path}:compact`, body)).toEqual({});
  await talk.nth('compaction.completed', done + 1);
}

const markers = async (talk: Talk) => {
  const page = transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=main`));
  return page.items.flatMap((item) => (item.kind === 'marker' && item.marker === 'compaction' ? [item.payload] : []));
};

describe('POST sessions/{id}:compact', () => {
  it('replaces the conversation with a summary, from which the next prompt continues', async () => {
    const talk = await startTalk(world);
    await talk.turn('What is in a.txt?', [...callThenText('Read', { path: 'a.txt' })]);
    world.model.enqueue(summarized);
    await compact(talk, { instruction: ' Keep names. ' });
    expect(lastRequest()).toMatch(/^[^]+\nKeep names\.$/);
    await talk.turn('Go on', [{ text: 'Hello again.' }]);
    const sent = lastRequest();
    expect(sent).toContain('What is in a.txt?');
    expect(sent).toContain(summary);
    expect(sent).not.toContain('Done.');

    expect((await talk.messages()).map(({ role, metadata }) => metadata?.origin.kind ?? role)).toEqual([
      'user',
      'injection',
      'assistant',
      'tool',
      'assistant',
      'compaction_summary',
      'user',
      'injection',
      'assistant',
    ]);
    const { usage } = (await world.snapshot(talk.session.id)).session;
    expect(usage).toMatchObject({ input_tokens: 136, output_tokens: 25 });
  });

  it('distinguishes its refusals', async () => {
    const talk = await startTalk(world);
    const refusal = async (body?: unknown) => {
      const { code, msg } = await world.api('POST', `${talk.path}:compact`, body);
      return [code, msg];
    };
    expect(await refusal()).toEqual([40910, 'No messages to compact in current history.']);
    const held = world.model.enqueue({ text: 'Hi.', hold: true });
    const { prompt_id } = await talk.prompt('Hello');
    await held.sent;
    expect((await refusal({}))[0]).toBe(40910);
    held.release();
    await talk.settled(prompt_id);

    world.model.enqueue({ hang: true });
    const requests = world.model.requests.length;
    expect((await refusal({ instruction: '  ' }))[0]).toBe(0);
    expect((await refusal())[0]).toBe(40910);
    await world.model.waitForRequest(requests + 1);
    expect(talk.all('compaction.started').map(({ payload }) => 'instruction' in payload)).toEqual([false]);
    const undo = await world.api('POST', `${talk.path}:undo`, {});
    expect([undo.code, undo.data]).toEqual([40901, null]);
    expect((await talk.status()).busy).toBe(true);
    expect(await world.ok('POST', `${talk.path}:abort`)).toEqual({ aborted: true });
    await talk.nth('compaction.cancelled', 1);
    expect((await talk.status()).busy).toBe(false);

    expect((await refusal({ instruction: 1 }))[0]).toBe(40001);
    expect((await refusal([]))[0]).toBe(40001);
    const unknown = await world.api('POST', '/sessions/session_x:compact', { instruction: 1 });
    expect(unknown.code).toBe(40401);
  });

  it('queues and lists prompts, and starts them in order', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.' }]);
    const held = world.model.enqueue({ ...summarized, hold: true });
    await world.ok('POST', `${talk.path}:compact`, {});
    await held.sent;
    const one = await talk.prompt('One', [{ text: 'First.' }]);
    const two = await talk.prompt('Two', [{ text: 'Second.' }]);
    expect([one.status, two.status]).toEqual(['queued', 'queued']);
    expect(await world.ok('GET', `${talk.path}/prompts`)).toMatchObject({
      active: null,
      queued: [{ prompt_id: one.prompt_id }, { prompt_id: two.prompt_id }],
    });
    held.release();
    await talk.settled(two.prompt_id);
    expect(talk.all('turn.started').map(({ payload }) => payload.prompt)).toEqual(['Hello', 'One', 'Two']);
  });

  it('prevents undo of earlier turns', async () => {
    const talk = await startTalk(world);
    await talk.turn('One', [{ text: 'First.' }]);
    world.model.enqueue(summarized);
    await compact(talk);
    await talk.turn('Two', [{ text: 'Second.' }]);
    const refused = await world.api('POST', `${talk.path}:undo`, { count: 2 });
    expect([refused.code, refused.msg]).toEqual([40911, 'Nothing to undo: would cross a compaction boundary']);
    expect(refused.data).toEqual({ reason: 'compaction_boundary', requestedCount: 2, undoableCount: 1 });
    const undone = await world.ok('POST', `${talk.path}:undo`, {});
    const { items } = (undone as { messages: { items: { metadata?: { origin: { kind: string } } }[] } }).messages;
    expect(items.map(({ metadata }) => metadata?.origin.kind)).toEqual(['compaction_summary', 'user']);
  });
});

describe('afterwards', () => {
  it('the transcript has all turns and a marker for each event, also after a restart', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.', usage: fills }]);
    await talk.turn('Go on', [summarized, { text: 'On.' }]);
    const page = async () => {
      const read = transcriptPageSchema.parse(await world.ok('GET', `${talk.path}/transcript?agent_id=main`));
      return { items: read.items, tokens: read.meta.agent?.contextTokens };
    };
    const before = await page();
    expect(before.items.map((item) => (item.kind === 'turn' ? item.turnId : item.kind))).toEqual([
      't0',
      't1',
      'marker',
      'marker',
      'marker',
    ]);
    expect(await markers(talk)).toEqual([
      { phase: 'started', trigger: 'auto', agentId: 'main' },
      { phase: 'blocked', turnId: 1, agentId: 'main' },
      expect.objectContaining({ phase: 'completed', text: summary, agentId: 'main' }),
    ]);
    await world.restart();
    expect(await page()).toEqual(before);
    expect(talk.all('compaction.completed')[0]?.payload.result).toMatchObject({
      compactedCount: 4,
      keptUserMessageCount: 2,
    });
  });

  it('a session continues after a restart unchanged', async () => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.' }]);
    world.model.enqueue(summarized);
    await compact(talk);
    await talk.turn('Two', [{ text: 'Second.' }]);
    await world.restart();
    world.model.enqueue({ text: 'Third.' });
    await world.prompt(talk.session.id, 'Three');
    await expect.poll(async () => (await talk.status()).busy).toBe(false);
    const sent = lastRequest();
    expect(sent).toContain(summary);
    expect(sent).not.toContain('Hi.');
    expect(sent).toContain('Second.');
  });
});

describe('hooks', () => {
  const told = async (name: string): Promise<Record<string, unknown>> => {
    const path = join(world.project, name);
    await expect.poll(() => readFile(path, 'utf8').catch(() => '')).toMatch(/\n$/);
    return JSON.parse(await readFile(path, 'utf8')) as Record<string, unknown>;
  };
  const keeps = (event: string, file: string, matcher: string) => ({
    event,
    matcher,
    command: `{ tr -d '\\n'; echo; } > ${file}`,
  });

  it('delay the compaction and are notified of its end', async () => {
    const gate = join(world.project, 'compaction-gate');
    const waits = { event: 'PreCompact', command: 'until test -e compaction-gate; do sleep 0.02; done; exit 2' };
    const hooks = [keeps('PreCompact', 'pre', 'manual'), waits, keeps('PostCompact', 'post', 'manual')];
    await world.ok('POST', '/config', { hooks: [...hooks, keeps('PostCompact', 'never', 'auto')] });
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.', usage: { input: 900, output: 10 } }]);
    world.model.enqueue(summarized);
    const requests = world.model.requests.length;
    await world.ok('POST', `${talk.path}:compact`);
    expect(await told('pre')).toMatchObject({ hook_event_name: 'PreCompact', trigger: 'manual', token_count: 910 });
    expect(world.model.requests).toHaveLength(requests);
    await writeFile(gate, '');
    const { payload } = await talk.nth('compaction.completed', 1);
    const { tokensAfter } = payload.result as { tokensAfter: number };
    expect(await told('post')).toMatchObject({ trigger: 'manual', estimated_token_count: tokensAfter });
    await expect(readFile(join(world.project, 'never'))).rejects.toThrow('ENOENT');
    await world.ok('POST', '/config', { hooks: [] });
  });

  it('that hang are stopped by an abort', async () => {
    await world.ok('POST', '/config', { hooks: [{ event: 'PreCompact', command: 'exec sleep 60' }] });
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.', usage: fills }]);
    await talk.prompt('Go on');
    await talk.nth('compaction.blocked', 1);
    await world.ok('POST', `${talk.path}:abort`);
    await talk.nth('turn.ended', 2);
    expect(talk.all('turn.ended')[1]?.payload).toMatchObject({
      reason: 'cancelled',
      interruptReason: 'user_cancelled',
    });
    await world.ok('POST', '/config', { hooks: [] });
  });
});

test('an archive stops it, and the session stays consistent', async () => {
  const talk = await startTalk(world);
  await talk.turn('Hello', [{ text: 'Hi.' }]);
  world.model.enqueue({ hang: true });
  const requests = world.model.requests.length;
  await world.ok('POST', `${talk.path}:compact`);
  await world.model.waitForRequest(requests + 1);
  await world.ok('POST', `${talk.path}:archive`);
  await talk.nth('agent.disposed', 1);
  const last = talk.events
    .durable(talk.session.id)
    .slice(-4)
    .map(({ type }) => type);
  const work = 'event.session.work_changed';
  expect(last).toEqual(['compaction.cancelled', work, work, 'agent.disposed']);
  await world.ok('POST', `${talk.path}:restore`);
  await talk.turn('Go on', [{ text: 'On.' }]);
  expect(lastRequest()).toContain('Hi.');
});

test('a subagent compacts its own conversation', async () => {
  const talk = await startTalk(world);
  const task = { prompt: 'Read a.txt', description: 'read', subagent_type: 'plan' };
  await talk.turn('Delegate', [
    { calls: [{ name: 'Agent', args: task }] },
    { calls: [{ name: 'Read', args: { path: 'a.txt' } }], usage: fills },
    summarized,
    { text: 'It says hello.' },
    { text: 'Done.' },
  ]);
  expect(talk.all('compaction.completed').map(({ payload }) => payload.agentId)).toEqual(['agent-1']);
  expect(talk.all('turn.ended').map(({ payload }) => payload.reason)).toEqual(['completed', 'completed']);
});

describe('a crash', () => {
  const phases: [name: string, prompts: boolean][] = [
    ['that a person asked for', false],
    ['that a turn waits for', true],
  ];
  it.each(phases)('during a compaction %s: no part of it remains, and the session continues', async (_name, inTurn) => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.', usage: inTurn ? fills : { input: 900, output: 10 } }]);
    world.model.enqueue({ hang: true });
    const requests = world.model.requests.length;
    if (inTurn) await talk.prompt('Go on');
    else await world.ok('POST', `${talk.path}:compact`);
    await world.model.waitForRequest(requests + 1);
    const home = await crashedHome(world.server.home, talk.session);
    await world.ok('POST', `${talk.path}:abort`);
    const server = await startServer({ home });
    try {
      const read = async (path: string) => (await server.api('GET', `${talk.path}${path}`)).data;
      const markersOf = transcriptPageSchema
        .parse(await read('/transcript?agent_id=main'))
        .items.flatMap((item) => (item.kind === 'marker' ? [item.payload] : []));
      expect(markersOf).toContainEqual(expect.objectContaining({ phase: 'cancelled' }));
      expect(await read('/status')).toMatchObject({ busy: false });
      const outcome = inTurn ? 'cancelled' : 'completed';
      await expect.poll(() => read('')).toMatchObject({ busy: false, last_turn_reason: outcome });
      for (const script of [...(inTurn ? [summarized] : []), { text: 'On.' }]) world.model.enqueue(script);
      const body = { content: [{ type: 'text', text: 'Go on' }] };
      expect((await server.api('POST', `${talk.path}/prompts`, body)).code).toBe(0);
      await expect.poll(() => read('')).toMatchObject({ busy: false, last_turn_reason: 'completed' });
    } finally {
      await server.close();
      await rm(home, { recursive: true, force: true });
    }
  });

  const KILLS = 26;
  it(`at ${KILLS} moments of compactions: each is complete or has no effect`, async () => {
    const talk = await startTalk(world);
    await talk.turn('Hello', [{ text: 'Hi.', usage: fills }]);
    for (let kill = 0; kill < KILLS; kill += 1) {
      // Alternates automatic and requested compactions; the summary arrives in chunks.
      const inTurn = kill % 2 === 0;
      world.model.enqueue({ text: ['## Task', '\nLook', ' at ', 'a.txt.'], paceMs: 2 });
      if (inTurn) world.model.enqueue({ text: 'On.' });
      const before = talk.all('compaction.completed').length;
      const begun = inTurn ? talk.prompt('Go on') : world.ok('POST', `${talk.path}:compact`);
      await pause(Math.random() * 40);
      const home = await crashedHome(world.server.home, talk.session);
      await begun;
      await talk.nth('compaction.completed', before + 1);
      await expect.poll(async () => (await talk.status()).busy).toBe(false);
      if (!inTurn) await talk.turn('Fill it again', [{ text: 'Hi.', usage: fills }]);

      const { log } = await openLog(sessionFolder(home, talk.session), { sessionId: talk.session.id });
      const { entries, barrier } = readContext(log.state.context, 'main');
      expect(log.state.activity).toMatchObject({ compactions: new Set(), turns: new Set() });
      const summaries = entries.findLastIndex(({ message }) => message.origin?.kind === 'compaction_summary');
      expect(barrier).toBe(summaries + 1);
      expect(entries[0]?.message.content).toEqual([{ type: 'text', text: 'Hello' }]);
      await log.close();
      const text = await readFile(join(log.dir, 'journal.ndjson'), 'utf8');
      const count = (type: string) => text.split(`"type":"${type}"`).length - 1;
      expect(count('compaction.completed') + count('compaction.cancelled')).toBe(count('compaction.started'));
      expect(count('compaction.completed') - before).toBeLessThanOrEqual(1);
      await rm(home, { recursive: true, force: true });
    }
  });
});
