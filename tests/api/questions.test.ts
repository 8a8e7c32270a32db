/** Questions: the object, answers, other ways to settle. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { INTERACTION_LIFETIME_MS } from '#server/interactions/interactions.ts';
import { questionSchema, type Question } from '#schema/rest/interaction.ts';
import { manualClock } from '#support/manual-clock.ts';
import { callThenText, resumeTalk, startTalk, wireMessages, wireText, type Talk } from '#support/talk.ts';
import { startWorld, type World } from '#support/world.ts';

let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.close());

const store = {
  question: 'Which store?',
  header: 'Storage',
  options: [{ label: 'SQLite', description: 'One file.' }, { label: 'Postgres' }],
};
const parts = {
  question: 'Which parts?',
  header: '',
  options: [{ label: 'Index', description: '' }, { label: 'Documents' }, { label: 'Journal' }],
  multi_select: true,
};
const asking = (...questions: object[]) => callThenText('AskUserQuestion', { questions });

const pending = async (talk: Talk): Promise<Question[]> => {
  const data = await world.ok('GET', `${talk.path}/questions?status=pending`);
  return z.object({ items: z.array(questionSchema) }).parse(data).items;
};

/** Starts a turn that waits for its n-th question, counted from 1. */
async function asked(talk: Talk, questions: object[] = [store], n = 1) {
  const { prompt_id: promptId } = await talk.prompt('go', asking(...questions));
  const { payload } = await talk.nth('event.question.requested', n);
  const id = String(payload.question_id);
  const path = `${talk.path}/questions/${id}`;
  return {
    id,
    path,
    answer: (answers: object, more: object = {}) => world.api('POST', path, { answers, ...more }),
    dismiss: () => world.api('POST', `${path}:dismiss`),
    /** The tool result in the model's request, after the turn has ended. */
    async told(): Promise<unknown> {
      await talk.settled(promptId);
      const result = wireMessages(world, -1).findLast(({ role }) => role === 'tool');
      return JSON.parse(wireText(result ?? { role: 'tool' }));
    },
    settled: () => talk.settled(promptId),
  };
}

describe('the object', () => {
  test('is in the list, the snapshot and the event; the session reports a pending interaction', async () => {
    const talk = await startTalk(world);
    const { id, dismiss, settled } = await asked(talk, [store, parts]);
    const [question] = await pending(talk);
    expect(question).toEqual({
      question_id: id,
      session_id: talk.session.id,
      questions: [
        {
          id: 'q_0',
          question: 'Which store?',
          header: 'Storage',
          options: [
            { id: 'opt_0_0', label: 'SQLite', description: 'One file.' },
            { id: 'opt_0_1', label: 'Postgres' },
          ],
          allow_other: true,
        },
        {
          id: 'q_1',
          question: 'Which parts?',
          options: [
            { id: 'opt_1_0', label: 'Index' },
            { id: 'opt_1_1', label: 'Documents' },
            { id: 'opt_1_2', label: 'Journal' },
          ],
          multi_select: true,
          allow_other: true,
        },
      ],
      created_at: expect.stringMatching(/Z$/),
      agent_id: 'main',
      turn_id: 0,
      tool_call_id: 'call_1',
    });
    expect(id).toMatch(/^question_[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect((await world.snapshot(talk.session.id)).pending_questions).toEqual([question]);
    expect((await talk.nth('event.question.requested', 1)).payload).toMatchObject(question ?? {});
    expect(talk.all('tool.call.started')[0]?.payload).toMatchObject({
      name: 'AskUserQuestion',
      description: 'Asking: Which store? (+1 more)',
    });
    expect(talk.all('tool.call.started')[0]?.payload).not.toHaveProperty('display');
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: true, pending_interaction: 'question' });
    expect(await world.approvals(talk.session.id)).toEqual([]);
    await dismiss();
    await settled();
    expect(await pending(talk)).toEqual([]);
    expect((await world.snapshot(talk.session.id)).pending_questions).toEqual([]);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, pending_interaction: 'none' });
  });

  test.each(['', '?status=resolved', '?status='])('the list requires status=pending, got "%s"', async (query) => {
    expect(await world.api('GET', `/sessions/none/questions${query}`)).toMatchObject({
      code: 40001,
      msg: 'status: Invalid input: expected "pending"',
    });
  });

  test('the list of an unknown session is refused', async () => {
    expect(await world.api('GET', '/sessions/none/questions?status=pending')).toMatchObject({ code: 40401 });
  });

  test.each<[string, object]>([
    ['no question', { questions: [] }],
    ['five questions', { questions: Array.from({ length: 5 }, (_, n) => ({ ...store, question: `${n}?` })) }],
    ['an empty question', { questions: [{ ...store, question: '' }] }],
    ['one option', { questions: [{ question: 'Which?', options: [{ label: 'A' }] }] }],
    ['five options', { questions: [{ question: 'Which?', options: [...'ABCDE'].map((label) => ({ label })) }] }],
    ['a question twice', { questions: [store, store] }],
    ['a label twice', { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'A' }] }] }],
  ])('a call with %s asks no question', async (_what, args) => {
    const talk = await startTalk(world);
    const { results, ended } = await talk.turn('go', callThenText('AskUserQuestion', args));
    expect(results).toMatchObject([{ isError: true }]);
    expect(ended.reason).toBe('completed');
    expect(talk.all('event.question.requested')).toEqual([]);
  });
});

describe('an answer', () => {
  test.each<[string, object, unknown]>([
    ['one option', { q_0: { kind: 'single', option_id: 'opt_0_1' } }, { 'Which store?': 'Postgres' }],
    [
      'several, in the order of the request',
      { q_1: { kind: 'multi', option_ids: ['opt_1_2', 'opt_1_0'] } },
      { 'Which parts?': 'Journal, Index' },
    ],
    ['a text', { q_0: { kind: 'other', text: 'a drawer' } }, { 'Which store?': 'a drawer' }],
    ['an empty text', { q_0: { kind: 'other', text: '' } }, { 'Which store?': '' }],
    [
      'options and a text',
      { q_1: { kind: 'multi_with_other', option_ids: ['opt_1_1'], other_text: 'the docs' } },
      { 'Which parts?': 'Documents, the docs' },
    ],
    [
      'a text without options',
      { q_1: { kind: 'multi_with_other', option_ids: [], other_text: 'the docs' } },
      { 'Which parts?': 'the docs' },
    ],
    [
      'some of the questions',
      { q_0: { kind: 'single', option_id: 'opt_0_0' }, q_1: { kind: 'skipped' } },
      { 'Which store?': 'SQLite' },
    ],
    [
      'unknown ids stand for themselves',
      { q_7: { kind: 'single', option_id: 'opt_x' }, q_0: { kind: 'multi', option_ids: ['opt_0_0', 'opt_9_9'] } },
      { q_7: 'opt_x', 'Which store?': 'SQLite, opt_9_9' },
    ],
    [
      'kinds against the question and repeated options pass',
      { q_0: { kind: 'multi', option_ids: ['opt_0_0', 'opt_0_0'] } },
      { 'Which store?': 'SQLite, SQLite' },
    ],
  ])('%s', async (_what, answers, texts) => {
    const talk = await startTalk(world);
    const { id, answer, told } = await asked(talk, [store, parts]);
    expect(await answer(answers, { method: 'click', note: 'hm' })).toMatchObject({
      code: 0,
      data: { resolved: true, resolved_at: expect.stringMatching(/Z$/) },
    });
    expect(await told()).toEqual({ answers: texts });
    expect(talk.all('event.question.answered')[0]?.payload).toEqual(
      expect.objectContaining({ question_id: id, answers: texts, resolved_at: expect.any(String) }),
    );
    expect(talk.all('event.question.answered')[0]?.payload).not.toHaveProperty('note');
    expect(talk.all('tool.result')[0]?.payload).not.toHaveProperty('isError');
  });

  test.each<[string, object]>([
    ['nothing', {}],
    ['only skips', { q_0: { kind: 'skipped' }, q_1: { kind: 'skipped' } }],
  ])('%s is an answer, and the model receives a dismissal', async (_what, answers) => {
    const talk = await startTalk(world);
    const { answer, told } = await asked(talk, [store, parts]);
    expect(await answer(answers)).toMatchObject({ code: 0 });
    expect(await told()).toEqual({ answers: {}, note: expect.any(String) });
    expect(talk.all('event.question.answered')[0]?.payload.answers).toEqual({});
    expect(talk.all('event.question.dismissed')).toEqual([]);
  });

  test('only the first answer or dismissal is accepted', async () => {
    const talk = await startTalk(world);
    const { id, answer, dismiss, settled } = await asked(talk);
    const first = { q_0: { kind: 'single', option_id: 'opt_0_0' } };
    const codes = (await Promise.all([answer(first), dismiss(), answer({}), dismiss()])).map(({ code }) => code);
    expect(codes.filter((code) => code === 40902)).toHaveLength(3);
    expect([0, 40909]).toContain(codes.find((code) => code !== 40902));
    await settled();
    for (const late of [await answer(first), await dismiss()]) {
      expect(late).toMatchObject({
        code: 40902,
        msg: `question ${id} already resolved`,
        data: { resolved: false },
      });
    }
    expect([...talk.all('event.question.answered'), ...talk.all('event.question.dismissed')]).toHaveLength(1);
  });
});

test('dismissed: the code reports it, the turn continues', async () => {
  const talk = await startTalk(world);
  const { id, path, told } = await asked(talk);
  // The body is ignored.
  expect(await world.api('POST', `${path}:dismiss`, { answers: 7 })).toMatchObject({
    code: 40909,
    msg: `question ${id} dismissed`,
    data: { dismissed: true, dismissed_at: expect.stringMatching(/Z$/) },
  });
  expect(await told()).toEqual({ answers: {}, note: expect.stringContaining('dismissed') });
  expect(talk.all('event.question.dismissed')[0]?.payload).toMatchObject({ question_id: id });
  expect(talk.all('tool.result')[0]?.payload).not.toHaveProperty('isError');
  expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'completed' });
});

describe('the order of checks', () => {
  const body = { answers: {} };
  const bad = { answers: { q_0: { kind: 'maybe' } } };

  test('the suffix of the path, first of all', async () => {
    for (const path of ['/sessions/none/questions/a:foo', '/sessions/none/questions/a:b:approve']) {
      expect(await world.api('POST', path, body)).toMatchObject({
        code: 40001,
        details: [{ path: 'question_id' }],
      });
    }
    expect(await world.api('POST', '/sessions/none/questions/a:foo', body)).toMatchObject({
      msg: 'unsupported action: a:foo',
      details: [{ message: 'unsupported action: a:foo' }],
    });
  });

  test('the session, then the id, then the body', async () => {
    const talk = await startTalk(world);
    for (const [path, sent] of [
      ['a', bad],
      ['a:dismiss', undefined],
    ] as const) {
      expect(await world.api('POST', `/sessions/none/questions/${path}`, sent)).toMatchObject({ code: 40401 });
      expect(await world.api('POST', `${talk.path}/questions/${path}`, sent)).toMatchObject({
        code: 40405,
        msg: 'question a not found',
        data: null,
      });
    }
    const { path, answer, settled } = await asked(talk);
    expect(await world.api('POST', path, bad)).toMatchObject({ code: 40001, details: [{ path: 'answers.q_0.kind' }] });
    expect(await answer({})).toMatchObject({ code: 0 });
    await settled();
    expect(await world.api('POST', path, bad)).toMatchObject({ code: 40902 });
  });

  test('a missing body, or one that is no object, is refused only for a pending question', async () => {
    const talk = await startTalk(world);
    const { path, dismiss, settled } = await asked(talk);
    for (const sent of [undefined, [], 'text']) {
      expect(await world.api('POST', '/sessions/none/questions/a', sent)).toMatchObject({ code: 40401 });
      expect(await world.api('POST', `${talk.path}/questions/a`, sent)).toMatchObject({ code: 40405 });
      expect(await world.api('POST', path, sent)).toMatchObject({ code: 40001, details: [{ path: '' }] });
    }
    await dismiss();
    await settled();
  });

  test.each<[string, unknown, string]>([
    ['no answers', {}, 'answers'],
    ['an empty item id', { answers: { '': { kind: 'skipped' } } }, 'answers.'],
    ['no option', { answers: { q_0: { kind: 'single' } } }, 'answers.q_0.option_id'],
    ['an empty option', { answers: { q_0: { kind: 'single', option_id: '' } } }, 'answers.q_0.option_id'],
    ['an empty list', { answers: { q_0: { kind: 'multi', option_ids: [] } } }, 'answers.q_0.option_ids'],
    ['no text', { answers: { q_0: { kind: 'other' } } }, 'answers.q_0.text'],
    ['an unknown method', { answers: {}, method: 'shout' }, 'method'],
    ['a null note', { answers: {}, note: null }, 'note'],
  ])('%s is refused, and the question stays pending', async (_what, sent, detail) => {
    const talk = await startTalk(world);
    const { path, dismiss, settled } = await asked(talk);
    expect(await world.api('POST', path, sent)).toMatchObject({ code: 40001, details: [{ path: detail }] });
    expect(await pending(talk)).toHaveLength(1);
    await dismiss();
    await settled();
  });
});

describe('other ways to settle', () => {
  test('an abort of the turn dismisses it', async () => {
    const talk = await startTalk(world);
    const { id, answer, settled } = await asked(talk);
    await world.ok('POST', `${talk.path}:abort`);
    await settled();
    expect(talk.all('event.question.dismissed')[0]?.payload).toMatchObject({ question_id: id });
    expect(await answer({})).toMatchObject({ code: 40902 });
    // Consumes the rest of the turn's script.
    await talk.turn('use up the answer', []);
  });

  test('archiving dismisses it, and the dismissal is stored', async () => {
    const talk = await startTalk(world);
    const { answer, dismiss } = await asked(talk);
    await world.ok('POST', `${talk.path}:archive`);
    await talk.nth('event.question.dismissed', 1);
    expect(await answer({})).toMatchObject({ code: 40902 });
    expect(await dismiss()).toMatchObject({ code: 40902 });
    expect(await pending(talk)).toEqual([]);
    await talk.turn('use up the answer', []);
  });

  test('stopping the server dismisses it, also for the next server', async () => {
    const talk = await startTalk(world);
    const { id, path } = await asked(talk);
    await world.restart();
    expect(await pending(talk)).toEqual([]);
    expect(await world.api('POST', path, { answers: {} })).toMatchObject({
      code: 40902,
      msg: `question ${id} already resolved`,
    });
    const again = await resumeTalk(world, talk.session);
    expect(again.all('event.question.dismissed')).toHaveLength(1);
    expect(await world.ok('GET', talk.path)).toMatchObject({ busy: false, pending_interaction: 'none' });
    await again.turn('use up the answer', []);
  });

  test('without an answer it expires, the turn continues, a late answer is refused as expired', async () => {
    const clock = manualClock();
    const short = await startWorld({ clock });
    try {
      const talk = await startTalk(short);
      const turn = talk.turn('go', asking(store));
      await talk.nth('event.question.requested', 1);
      clock.advance(INTERACTION_LIFETIME_MS);
      const { results, ended } = await turn;
      expect(ended.reason).toBe('completed');
      expect(results).toMatchObject([{ isError: false, output: expect.stringContaining('"answers":{}') }]);
      const { payload } = await talk.nth('event.question.dismissed', 1);
      const path = `${talk.path}/questions/${String(payload.question_id)}`;
      const expired = { code: 41002, msg: `question ${String(payload.question_id)} expired`, data: null };
      expect(await short.api('POST', path, { answers: {} })).toMatchObject(expired);
      expect(await short.api('POST', `${path}:dismiss`)).toMatchObject(expired);
    } finally {
      await short.close();
    }
  });
});

describe('modes', () => {
  test('auto: no question is asked, the model receives the reason and continues', async () => {
    const talk = await startTalk(world);
    const { results, ended } = await talk.turn('go', asking(store), { permission_mode: 'auto' });
    expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('auto mode') }]);
    expect(ended.reason).toBe('completed');
    expect(talk.all('event.question.requested')).toEqual([]);
  });

  test.each(['manual', 'yolo'])('%s: asked without an approval', async (mode) => {
    const talk = await startTalk(world);
    const turn = talk.turn('go', asking(store), { permission_mode: mode });
    const { payload } = await talk.nth('event.question.requested', 1);
    await world.api('POST', `${talk.path}/questions/${String(payload.question_id)}:dismiss`);
    expect((await turn).ended.reason).toBe('completed');
    expect(talk.all('event.approval.requested')).toEqual([]);
  });

  test('a deny rule applies in every mode', async () => {
    await world.ok('POST', '/config', { permission: { rules: [{ decision: 'deny', pattern: 'AskUserQuestion' }] } });
    try {
      const talk = await startTalk(world);
      const { results } = await talk.turn('go', asking(store));
      expect(results).toMatchObject([{ isError: true, output: expect.stringContaining('denied') }]);
    } finally {
      await world.ok('POST', '/config', { permission: { rules: null } });
    }
  });
});

test('a question among calls of a response waits for none, and no later call runs concurrently', async () => {
  const talk = await startTalk(world);
  const calls = [
    { name: 'Read', args: { path: 'a.txt' } },
    { name: 'AskUserQuestion', args: { questions: [store] } },
    { name: 'Glob', args: { pattern: '*' } },
  ];
  const turn = talk.turn('go', [{ calls }, { text: 'Done.' }]);
  const { payload } = await talk.nth('event.question.requested', 1);
  await talk.nth('tool.result', 1);
  expect(talk.all('tool.result').map((frame) => frame.payload.toolCallId)).toEqual(['call_1']);
  await world.ok('POST', `${talk.path}/questions/${String(payload.question_id)}`, { answers: {} });
  expect((await turn).results.map(({ toolCallId }) => toolCallId)).toEqual(['call_1', 'call_2', 'call_3']);
});
