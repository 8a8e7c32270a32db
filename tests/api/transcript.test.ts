/** The endpoints of transcripts, over a real server. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { plansSchema, transcriptPageSchema, userMessagesSchema, type TranscriptPage } from '#schema/rest/transcript.ts';
import { transcriptOpsSchema } from '#schema/rest/transcript-ops.ts';
import { applyOps } from '#server/transcript/reducer/apply.ts';
import { sessionFolder } from '#support/session-folder.ts';
import { canonical, listed, stateOfOps, stateOfPage } from '#support/transcripts.ts';
import { startWorld, type World } from '#support/world.ts';
import type { WsClient } from '#support/ws-client.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld();
});
afterEach(() => world.close());

const at = (id: string, rest: string) => `/sessions/${id}/transcript${rest}`;
const page = async (id: string, query = '', agent = 'main'): Promise<TranscriptPage> =>
  transcriptPageSchema.parse(await world.ok('GET', at(id, `?agent_id=${agent}${query}`)));
const opsSince = async (id: string, since: number, agent = 'main') =>
  transcriptOpsSchema.parse(await world.ok('GET', at(id, `/ops?agent_id=${agent}&since_seq=${since}`)));
const userMessages = async (id: string, query = '') =>
  userMessagesSchema.parse(await world.ok('GET', at(id, `/user-messages${query}`))).agents;

const settled = (client: WsClient, promptId: string) =>
  client.waitFor(
    ({ type, payload }) =>
      (type === 'prompt.completed' || type === 'prompt.aborted') &&
      typeof payload === 'object' &&
      payload !== null &&
      'promptId' in payload &&
      payload.promptId === promptId,
  );

/** A session with this many completed text turns. */
async function talk(turns: number) {
  const { id } = await world.session();
  const client = await world.watch(id);
  for (let turn = 0; turn < turns; turn += 1) {
    world.model.enqueue({ text: `Answer ${turn}.` });
    const { prompt_id } = await world.prompt(id, `Question ${turn}`);
    await settled(client, prompt_id);
  }
  return { id, client };
}

const turnIds = ({ items }: Pick<TranscriptPage, 'items'>) =>
  items.map((item) => (item.kind === 'turn' ? item.turnId : item.kind));

async function journalOf(id: string) {
  const { workspace_id } = (await world.ok('GET', `/sessions/${id}`)) as { workspace_id: string };
  return join(sessionFolder(world.server.home, { workspace_id, id }), 'journal.ndjson');
}

describe('a page', () => {
  it('of a new session is empty, and starts at 0', async () => {
    const { id } = await world.session();
    const empty = await page(id);
    expect(empty).toMatchObject({ agent_id: 'main', items: [], has_more: false, meta: {}, seq: 0 });
    expect(empty.agents).toEqual([{ agentId: 'main', type: 'main', createdAt: expect.any(String) }]);
  });

  it('has a turn with its steps, texts and calls, and reads the same after a restart', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    const calls = [{ name: 'Read', args: { path: 'a.txt' } }];
    world.model.enqueue({ thinking: 'Check first.', text: 'Reading it.', calls });
    world.model.enqueue({ text: 'Done.' });
    await settled(client, (await world.prompt(id, 'Show a.txt')).prompt_id);
    const live = await page(id);
    expect(live.items).toMatchObject([
      {
        turnId: 't0',
        state: 'completed',
        prompt: 'Show a.txt',
        origin: { kind: 'user', payload: { kind: 'user' } },
        usage: { inputTokens: 24, cachedTokens: 0, outputTokens: 10 },
        steps: [
          {
            stepId: 't0.1',
            state: 'completed',
            finishReason: 'tool_use',
            frames: [
              { frameId: 't0.1.f1', kind: 'thinking', text: 'Check first.' },
              { frameId: 't0.1.f2', kind: 'text', role: 'assistant', text: 'Reading it.' },
              { frameId: 't0.1.call_1', kind: 'tool', name: 'Read', state: 'done', output: '1\thello' },
            ],
          },
          { stepId: 't0.2', finishReason: 'end_turn', frames: [{ frameId: 't0.2.f1', text: 'Done.' }] },
        ],
      },
    ]);
    await world.restart();
    const cold = await page(id);
    expect(cold).not.toHaveProperty('seq');
    expect(cold.prompts).toEqual([]);
    expect(canonical(stateOfPage(cold))).toEqual(canonical(stateOfPage(live)));
    expect(cold.agents).toEqual(live.agents);
  });

  it('walks back and forth through all turns with any size', async () => {
    const { id } = await talk(7);
    const whole = await page(id, '&page_size=100');
    expect(turnIds(whole)).toEqual(['t0', 't1', 't2', 't3', 't4', 't5', 't6']);
    for (const size of [1, 2, 3, 7]) {
      let read = await page(id, `&page_size=${size}`);
      let back = read.items;
      while (read.has_more) {
        read = await page(id, `&page_size=${size}&before_turn=${turnIds({ items: back })[0]}`);
        back = [...read.items, ...back];
      }
      expect(back).toEqual(whole.items);
      read = await page(id, `&page_size=${size}&after_turn=t0`);
      let forth = read.items;
      while (read.has_more) {
        read = await page(id, `&page_size=${size}&after_id=${turnIds({ items: forth }).at(-1)}`);
        forth = [...forth, ...read.items];
      }
      expect(forth).toEqual(whole.items.slice(1));
    }
    expect(turnIds(await page(id, '&before_id=t3&page_size=2'))).toEqual(['t1', 't2']);
    expect(await page(id, '&before_turn=t0')).toMatchObject({ items: [], has_more: false });
    expect(await page(id, '&after_turn=t6')).toMatchObject({ items: [], has_more: false });
    expect(turnIds(await page(id, '&before_turn=t900'))).toHaveLength(7);
  });

  it('contains streaming text, also for a client that opens it in mid-stream', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    const answer = world.model.enqueue({ thinking: 'Hm.', text: ['Hello ', 'there'], hold: true });
    const { prompt_id } = await world.prompt(id, 'Say hello');
    await answer.sent;
    await client.waitFor(({ type }) => type === 'assistant.delta');
    await expect.poll(async () => (await world.snapshot(id)).in_flight_turn?.assistant_text).toBe('Hello there');
    const first = await page(id);
    expect(first.items).toMatchObject([
      {
        state: 'running',
        steps: [
          {
            state: 'running',
            frames: [
              { kind: 'thinking', text: 'Hm.' },
              { kind: 'text', text: 'Hello there' },
            ],
          },
        ],
      },
    ]);
    expect(first.meta.agent?.phase).toMatchObject({ kind: 'streaming' });
    expect(first.prompts).toMatchObject([{ promptId: prompt_id, status: 'running' }]);
    answer.release();
    await settled(client, prompt_id);
    const state = stateOfPage(first);
    const { batches, complete } = await opsSince(id, first.seq ?? 0);
    expect(complete).toBe(true);
    for (const { ops } of batches) expect(applyOps(state, ops).gap).toBe(false);
    expect(listed(state)).toEqual(listed(stateOfPage(await page(id))));
  });

  it('contains an approval, and its answer', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    world.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'cat a.txt' } }] });
    world.model.enqueue({ text: 'Done.' });
    const { prompt_id } = await world.prompt(id, 'Show it');
    await client.waitFor(({ type }) => type === 'event.approval.requested');
    const [approval] = await world.approvals(id);
    const approvalId = approval?.approval_id ?? '';
    const waiting = await page(id);
    expect(waiting.pending_interactions).toEqual([approvalId]);
    expect(waiting.interactions).toMatchObject([
      {
        interactionId: approvalId,
        interactionKind: 'approval',
        toolCallId: 'call_1',
        state: 'pending',
        request: { id: approvalId, sessionId: id, agentId: 'main', turnId: 0, toolName: 'Bash' },
      },
    ]);
    await world.ok('POST', `/sessions/${id}/approvals/${approvalId}`, { decision: 'approved', scope: 'session' });
    await settled(client, prompt_id);
    const after = await page(id);
    expect(after.pending_interactions).toEqual([]);
    expect(after.interactions).toMatchObject([
      { state: 'approved', response: { decision: 'approved', scope: 'session' } },
    ]);
    expect(after.items).toMatchObject([{ steps: [{ frames: [{ approvalId, state: 'done' }] }, {}] }]);
  });

  it('contains a question and the todo list', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    const questions = [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B', description: 'the other' }] }];
    const todos = [{ title: 'Look', status: 'in_progress' }];
    world.model.enqueue({ calls: [{ name: 'AskUserQuestion', args: { questions } }] });
    world.model.enqueue({ calls: [{ name: 'TodoList', args: { todos } }] });
    world.model.enqueue({ text: 'Done.' });
    const { prompt_id } = await world.prompt(id, 'Go');
    await client.waitFor(({ type }) => type === 'event.question.requested');
    const [question] = (await world.snapshot(id)).pending_questions;
    const questionId = question?.question_id ?? '';
    const answers = { q_0: { kind: 'single', option_id: 'opt_0_1' } };
    await world.ok('POST', `/sessions/${id}/questions/${questionId}`, { answers });
    await settled(client, prompt_id);
    const shown = await page(id);
    expect(shown.interactions).toEqual([
      {
        interactionId: questionId,
        interactionKind: 'question',
        toolCallId: 'call_1',
        state: 'answered',
        request: { id: questionId, agentId: 'main', turnId: 0, toolCallId: 'call_1', questions },
        response: { answers: { 'Which?': 'B' } },
        answeredBy: { userAgent: 'node', remoteAddress: '127.0.0.1' },
      },
    ]);
    expect(shown.todos).toEqual([{ todoId: 'todo', items: todos, updatedAt: expect.any(String) }]);
    expect(shown.items).toMatchObject([
      { steps: [{ frames: [{ approvalId: questionId }] }, { frames: [{ todoId: 'todo' }] }, {}] },
    ]);
  });

  it('marks failures and interruptions', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    world.model.enqueue({ status: 400, error: 'no such thing' });
    await settled(client, (await world.prompt(id, 'Fail')).prompt_id);
    const answer = world.model.enqueue({ text: 'Half', hold: true });
    const { prompt_id } = await world.prompt(id, 'Stop');
    await answer.sent;
    await client.waitFor(({ type }) => type === 'assistant.delta');
    await world.ok('POST', `/sessions/${id}/prompts/${prompt_id}:abort`);
    await settled(client, prompt_id);
    const { items } = await page(id);
    expect(items).toMatchObject([
      {
        turnId: 't0',
        state: 'failed',
        error: expect.stringContaining('no such thing'),
        steps: [{ state: 'interrupted', endReason: 'error' }],
      },
      { kind: 'marker', markerId: 'm1', marker: 'notice', payload: { level: 'error', event: { agentId: 'main' } } },
      {
        turnId: 't1',
        state: 'cancelled',
        steps: [{ state: 'interrupted', endReason: 'aborted', frames: [{ text: 'Half' }] }],
      },
      {
        kind: 'marker',
        markerId: 'm2',
        marker: 'interruption',
        payload: { agentId: 'main', turnId: 1, reason: 'user_cancelled' },
      },
    ]);
  });

  it('truncates long outputs, and returns fewer turns above its size limit', async () => {
    const { id } = await world.session();
    const client = await world.watch(id);
    const pieces = Array.from({ length: 96 }, () => 'x'.repeat(32 * 1024));
    const long = pieces.join('');
    for (let turn = 0; turn < 2; turn += 1) {
      world.model.enqueue({ text: pieces });
      await settled(client, (await world.prompt(id, 'Write')).prompt_id);
    }
    const newest = await page(id);
    expect(turnIds(newest)).toEqual(['t1']);
    expect(newest.has_more).toBe(true);
    expect(newest.items).toMatchObject([{ steps: [{ frames: [{ text: long }] }] }]);
    expect(await page(id, '&before_turn=t1')).toMatchObject({ has_more: false, items: [{ turnId: 't0' }] });
    const forth = await page(id, '&after_id=t0');
    expect(turnIds(forth)).toEqual(['t1']);
  });
});

describe('operations', () => {
  it('lead from the beginning to the page, without a gap', async () => {
    const { id } = await world.session();
    expect(await opsSince(id, 0)).toEqual({ agent_id: 'main', batches: [], latest_seq: 0, complete: true });
    const client = await world.watch(id);
    world.model.enqueue({
      thinking: ['Che', 'ck.'],
      text: ['Run', 'ning.'],
      calls: [{ name: 'Read', args: { path: 'a.txt' } }],
    });
    world.model.enqueue({ text: 'Done.' });
    await settled(client, (await world.prompt(id, 'Show a.txt')).prompt_id);
    const all = await opsSince(id, 0);
    expect(all.complete).toBe(true);
    expect(all.batches.map(({ seq }) => seq)).toEqual(all.batches.map((_, index) => index + 1));
    expect(all.batches.every(({ ops }) => ops.length > 0)).toBe(true);
    const shown = await page(id);
    expect(shown.seq).toBe(all.latest_seq);
    expect(listed(stateOfOps(all.batches.flatMap(({ ops }) => ops)))).toEqual(listed(stateOfPage(shown)));
    for (const { seq } of all.batches) {
      const { batches, latest_seq } = await opsSince(id, seq);
      expect(latest_seq).toBe(all.latest_seq);
      expect(batches).toEqual(all.batches.filter((batch) => batch.seq > seq));
    }
    expect(await opsSince(id, all.latest_seq + 1)).toMatchObject({
      batches: [],
      complete: false,
      latest_seq: all.latest_seq,
    });
  });

  it('are empty for unknown agents and incomplete for unloaded sessions', async () => {
    const { id } = await talk(1);
    expect(await opsSince(id, 0, 'agent-9')).toEqual({
      agent_id: 'agent-9',
      batches: [],
      latest_seq: 0,
      complete: true,
    });
    expect(await opsSince(id, 1, 'agent-9')).toMatchObject({ latest_seq: 0, complete: false });
    expect((await page(id)).agents).toHaveLength(1);
    const { latest_seq } = await opsSince(id, 0);
    expect(latest_seq).toBeGreaterThan(1_000_000_000_000);
    await world.restart();
    expect(await opsSince(id, 0)).toEqual({ agent_id: 'main', batches: [], latest_seq: 0, complete: false });
    // After loading again, numbers continue above those of the earlier load.
    const { prompt_id } = (world.model.enqueue({ text: 'Again.' }), await world.prompt(id, 'More'));
    const later = await page(id);
    expect(later.seq).toBeGreaterThan(latest_seq);
    expect(await opsSince(id, latest_seq)).toMatchObject({ batches: [], complete: false });
    await settled(await world.watch(id), prompt_id);
  });
});

describe('user messages', () => {
  it('are listed for one agent or for all', async () => {
    const { id, client } = await talk(2);
    const image = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
    world.model.enqueue({ text: 'Nice.' });
    const content = [{ type: 'image', source: { kind: 'base64', media_type: 'image/png', data: image } }];
    const data = await world.ok('POST', `/sessions/${id}/prompts`, { content });
    await settled(client, (data as { prompt_id: string }).prompt_id);
    const agents = await userMessages(id);
    expect(agents).toMatchObject([
      {
        agent_id: 'main',
        messages: [
          { turn_id: 't0', ordinal: 0, state: 'completed', prompt: 'Question 0', origin: { kind: 'user' } },
          { turn_id: 't1', prompt: 'Question 1' },
          { turn_id: 't2', prompt: '', attachment_ids: ['t2.att1'] },
        ],
        attachments: [{ attachmentId: 't2.att1', mediaType: 'image/png' }],
      },
    ]);
    expect(await userMessages(id, '?agent_id=main')).toEqual(agents);
    expect(await userMessages(id, '?agent_id=agent-3')).toEqual([
      { agent_id: 'agent-3', messages: [], attachments: [] },
    ]);
    const shown = await page(id);
    expect(shown.attachments).toEqual(agents[0]?.attachments);
    expect(shown.items.map((item) => (item.kind === 'turn' ? (item.prompt ?? '') : ''))).toEqual(
      agents[0]?.messages.map(({ prompt }) => prompt),
    );
    await world.restart();
    expect(await userMessages(id)).toEqual(agents);
  });
});

describe('plans', () => {
  it('are empty without a call that ends plan mode', async () => {
    const { id } = await talk(1);
    expect(plansSchema.parse(await world.ok('GET', at(id, '/plan?agent_id=main')))).toEqual({
      agent_id: 'main',
      plans: [],
    });
    const refused = await world.api('GET', at(id, '/plan?agent_id=main&tool_call_id=call_77'));
    expect(refused).toMatchObject({ code: 40416, msg: expect.stringContaining('call_77') });
  });
});

describe('requests that are refused', () => {
  const ends = ['', '/ops', '/user-messages', '/plan'];
  const plain = { path: 'agent_id', message: 'agent_id must be a plain agent id (no path separators)' };

  it.each(ends)('invalid agent ids, at %s', async (end) => {
    const { id } = await world.session();
    const more = end === '/ops' ? '&since_seq=0' : '';
    for (const name of ['../x', 'a/b', '.', '..', 'a'.repeat(129), 'a\0']) {
      const answer = await world.api('GET', at(id, `${end}?agent_id=${encodeURIComponent(name)}${more}`));
      expect(answer).toMatchObject({ code: 40001, details: [plain] });
    }
    const empty = await world.api('GET', at(id, `${end}?agent_id=${more}`));
    expect(empty).toMatchObject({ code: 40001, details: [{ path: 'agent_id' }, plain] });
    const twice = await world.api('GET', at(id, `${end}?agent_id=a&agent_id=b${more}`));
    expect(twice.details).toEqual([{ path: 'agent_id', message: 'Invalid input: expected string, received array' }]);
  });

  it.each(ends)('an unknown session, after the query check, at %s', async (end) => {
    const more = end === '/ops' ? '&since_seq=0' : '';
    const unknown = await world.api('GET', at('session_none', `${end}?agent_id=main${more}`));
    expect(unknown).toMatchObject({ code: 40401, msg: expect.stringContaining('session_none') });
    expect(await world.api('GET', at('session_none', `${end}?agent_id=a%2Fb${more}`))).toMatchObject({ code: 40001 });
  });

  it('invalid cursors, two of them, sizes out of bounds, missing numbers', async () => {
    const { id } = await world.session();
    const refused = async (rest: string) => {
      const answer = await world.api('GET', at(id, rest));
      expect(answer.code).toBe(40001);
      return answer.details;
    };
    const two = { path: 'before_turn', message: 'before_turn and after_turn are mutually exclusive' };
    const main = '?agent_id=main';
    for (const cursor of ['5', 't', 'tx', '']) {
      expect(await refused(`${main}&before_turn=${cursor}`)).toEqual([
        { path: 'before_turn', message: 'must be a turn id' },
      ]);
    }
    expect(await refused(`${main}&before_turn=t1&after_turn=t0`)).toEqual([two]);
    expect(await refused(`${main}&before_turn=t1&before_id=t0`)).toEqual([two]);
    expect(await refused(`?agent_id=a%2Fb&before_id=t1&after_id=t0`)).toEqual([two, plain]);
    expect(await refused(`${main}&page_size=0`)).toMatchObject([{ path: 'page_size' }]);
    expect(await refused(`?agent_id=a%2Fb&page_size=101`)).toMatchObject([{ path: 'page_size' }, plain]);
    expect(await refused(`?agent_id=a%2Fb&page_size=x`)).toMatchObject([{ path: 'page_size' }]);
    expect(await refused('')).toEqual([
      { path: 'agent_id', message: 'Invalid input: expected string, received undefined' },
    ]);
    const missing = 'Invalid input: expected number, received NaN';
    expect(await refused(`/ops${main}`)).toEqual([{ path: 'since_seq', message: missing }]);
    expect(await refused(`/ops${main}&since_seq=-1`)).toMatchObject([{ path: 'since_seq' }]);
    expect(await refused(`/plan${main}&tool_call_id=`)).toMatchObject([{ path: 'tool_call_id' }]);
  });

  it('a journal that is damaged in the middle', async () => {
    const { id } = await talk(2);
    const journal = await journalOf(id);
    await world.server.close();
    const text = await readFile(journal, 'utf8');
    await writeFile(journal, text.replace('"turn.ended"', '"turn.ended'));
    await world.restart().catch(() => undefined);
    expect(await world.api('GET', at(id, '?agent_id=main'))).toMatchObject({ code: 50001 });
  });
});

describe('a cold session', () => {
  it('is not loaded by any of them, and its file is not touched', async () => {
    const { id } = await talk(2);
    const journal = await journalOf(id);
    await world.restart();
    const before = await readFile(journal);
    const [shown, messages] = [await page(id), await userMessages(id)];
    await opsSince(id, 0);
    await world.ok('GET', at(id, '/plan?agent_id=main'));
    expect(turnIds(shown)).toEqual(['t0', 't1']);
    expect(messages[0]?.messages).toHaveLength(2);
    expect(world.server.app.sessions.liveRow(id)).toBeUndefined();
    expect(await readFile(journal)).toEqual(before);
  });
});
