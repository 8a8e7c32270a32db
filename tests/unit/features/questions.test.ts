/** Questions on a real session: the journal records of a call, of waiting and of each outcome. */
import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { INTERACTION_LIFETIME_MS } from '#server/interactions/interactions.ts';
import { questions } from '#server/features/questions/questions.ts';
import type { Session } from '#schema/rest/session.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { openTalk, scriptedModel, textOf } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const args = { questions: [{ question: 'Which?', options: [{ label: 'A' }, { label: 'B' }] }] };
const ask = (id = 'c1') => ({ calls: [{ id, name: 'AskUserQuestion', args }] });
const done = { text: 'Done.' };

/** Opens a session and runs a turn up to the question of its model. */
async function asking(options: { answers?: Parameters<typeof scriptedModel>; clock?: ManualClock } = {}) {
  const { answers = [ask(), done], ...more } = options;
  const script = scriptedModel(...answers);
  const talk = await openTalk({ dir: folder.path, services: script.services, ...more });
  const live = talk.session.context.feature(questions);
  talk.submit('go');
  const { payload } = await talk.nth('event.question.requested');
  const id = String(payload.question_id);
  const before = talk.durable().length;
  return {
    ...talk,
    ...script,
    live,
    id,
    answer: (optionId = 'opt_0_0') => live.answer(id, { answers: { q_0: { kind: 'single', option_id: optionId } } }),
    dismiss: () => live.dismiss(id),
    assertPending: () => live.assertPending(id),
    /** Types of the durable events since the question. */
    since: () =>
      talk
        .durable()
        .slice(before)
        .map(({ type }) => type),
    result: async () => (await talk.nth('tool.result')).payload,
    pending: () => talk.log.state.interactions.questions.size,
  };
}

const failsWith = (code: number) => expect.objectContaining({ code });
const work = ({ payload }: { payload: object }): Partial<Session> => payload;

describe('an answer', () => {
  it('and the result of the call are one line; the model receives it', async () => {
    const talk = await asking();
    await talk.answer();
    await talk.idle();
    expect(await talk.lines()).toContainEqual(['event.session.work_changed', 'event.question.answered', 'tool.result']);
    expect(talk.requests.at(-1)?.messages.map(({ role }) => role)).toEqual(['user', 'user', 'assistant', 'tool']);
    expect(textOf(talk.requests.at(-1)!.messages.at(-1)!)).toBe('{"answers":{"Which?":"A"}}');
    expect(talk.all('tool.result')).toHaveLength(1);
    await talk.close();
  });

  it('longer than the limit of one result is refused, and another is accepted', async () => {
    const talk = await asking();
    const text = 'x'.repeat(65_536);
    await expect(talk.live.answer(talk.id, { answers: { q_0: { kind: 'other', text } } })).rejects.toThrow(
      failsWith(40001),
    );
    expect(talk.pending()).toBe(1);
    await talk.answer();
    await talk.idle();
    await talk.close();
  });

  it('the first of several at the same time wins', async () => {
    const talk = await asking();
    const answers = await Promise.allSettled([talk.answer('opt_0_1'), talk.dismiss(), talk.answer('opt_0_0')]);
    expect(answers).toMatchObject([
      { status: 'fulfilled' },
      { status: 'rejected', reason: { code: 40902, data: { resolved: false } } },
      { status: 'rejected', reason: { code: 40902 } },
    ]);
    await talk.idle();
    expect((await talk.result()).output).toBe('{"answers":{"Which?":"B"}}');
    expect(talk.all('event.question.answered')).toHaveLength(1);
    expect(talk.all('event.question.dismissed')).toEqual([]);
    await talk.close();
  });

  it('is visible as pending to clients of the session, and the session stays loaded until then', async () => {
    const talk = await asking();
    expect(talk.session.holds()).toBe(true);
    expect(talk.pending()).toBe(1);
    expect(work(talk.all('event.session.work_changed').at(-1)!)).toMatchObject({ pending_interaction: 'question' });
    expect((await talk.reader.snapshot()).pending_questions).toMatchObject([{ question_id: talk.id }]);
    await talk.answer();
    await talk.idle();
    expect((await talk.reader.snapshot()).pending_questions).toEqual([]);
    expect(talk.session.holds()).toBe(false);
    await talk.close();
  });
});

it('dismissed: the result contains that and is no error, the turn continues', async () => {
  const talk = await asking();
  await talk.dismiss();
  await talk.idle();
  expect(talk.since().slice(0, 3)).toEqual(['event.session.work_changed', 'event.question.dismissed', 'tool.result']);
  const { output, ...rest } = await talk.result();
  expect(JSON.parse(String(output))).toEqual({ answers: {}, note: expect.stringMatching(/dismissed/) });
  expect(rest).not.toHaveProperty('isError');
  expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'completed' });
  await expect(talk.assertPending()).rejects.toEqual(failsWith(40902));
  await talk.close();
});

it('expired: dismissed for all clients, the turn continues, a late answer is rejected as such, also after a load', async () => {
  const clock = manualClock();
  const talk = await asking({ clock });
  clock.advance(INTERACTION_LIFETIME_MS);
  await talk.idle();
  expect(talk.since()).toContain('event.question.dismissed');
  expect(talk.all('turn.ended')[0]?.payload).toMatchObject({ reason: 'completed' });
  await expect(talk.answer()).rejects.toEqual(failsWith(41002));
  await talk.close();
  const again = await openTalk({ dir: folder.path, services: scriptedModel().services });
  await expect(again.session.context.feature(questions).dismiss(talk.id)).rejects.toEqual(failsWith(41002));
  await again.close();
});

describe('in the background', () => {
  const behind = { calls: [{ id: 'c1', name: 'AskUserQuestion', args: { ...args, background: true } }] };

  it('expired: its task has completed with the dismissal, of which the model is notified; a late answer is rejected as such', async () => {
    const clock = manualClock();
    const talk = await asking({ answers: [behind, done, done], clock });
    await talk.nth('prompt.completed');
    clock.advance(INTERACTION_LIFETIME_MS);
    await talk.nth('turn.ended', 2);
    await talk.idle();
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({ kind: 'question', status: 'completed' });
    expect(talk.requests.at(-1)?.messages.map(textOf).join()).toMatch(/<notification [^]*dismissed/);
    await expect(talk.answer()).rejects.toEqual(failsWith(41002));
    await talk.close();
  });

  it('the end of the session dismisses it without a notification', async () => {
    const talk = await asking({ answers: [behind, done] });
    await talk.nth('prompt.completed');
    const last = await talk.session.end('archive');
    await talk.log.close('archive', last);
    expect(talk.since().filter((type) => /question|task\.term|notified|turn\.started/.test(type))).toEqual([
      'event.question.dismissed',
      'task.terminated',
      'background.task.terminated',
    ]);
    expect(talk.all('task.terminated')[0]?.payload.info).toMatchObject({
      status: 'killed',
      stopReason: 'session closed',
      terminalNotificationSuppressed: true,
    });
  });
});

it('aborted: dismissal and result are one line, before the end of the step', async () => {
  const talk = await asking({ answers: [ask()] });
  talk.main.cancelTurn();
  await talk.idle();
  expect((await talk.lines()).slice(-2)).toEqual([
    ['event.session.work_changed', 'event.question.dismissed', 'tool.result'],
    ['turn.step.interrupted', 'turn.ended', 'context.spliced', 'event.session.work_changed', 'prompt.aborted'],
  ]);
  const { output, ...rest } = await talk.result();
  expect(JSON.parse(String(output))).toMatchObject({ answers: {} });
  expect(rest).not.toHaveProperty('isError');
  expect(work(talk.all('event.session.work_changed').at(-2)!)).toMatchObject({
    busy: true,
    main_turn_active: true,
    pending_interaction: 'none',
  });
  await expect(talk.answer()).rejects.toEqual(failsWith(40902));
  await talk.close();
});

it('two of one response are asked sequentially, equal ones once', async () => {
  const other = { questions: [{ question: 'Sure?', options: [{ label: 'Yes' }, { label: 'No' }] }] };
  const calls = [
    { id: 'c1', name: 'AskUserQuestion', args },
    { id: 'c2', name: 'AskUserQuestion', args },
    { id: 'c3', name: 'AskUserQuestion', args: other },
  ];
  const talk = await asking({ answers: [{ calls }, done] });
  expect(talk.pending()).toBe(1);
  await talk.answer();
  const { payload } = await talk.nth('event.question.requested', 2);
  expect(payload.questions).toMatchObject([{ question: 'Sure?' }]);
  await talk.session.context.feature(questions).dismiss(String(payload.question_id));
  await talk.idle();
  expect(talk.all('tool.result').map((frame) => frame.payload.toolCallId)).toEqual(['c1', 'c2', 'c3']);
  // The result of the equal call is part of the same line.
  expect(await talk.lines()).toContainEqual([
    'event.session.work_changed',
    'event.question.answered',
    'tool.result',
    'tool.result',
  ]);
  await talk.close();
});

it('the reminder of a call that is repeated too often follows the answer', async () => {
  const talk = await asking({ answers: [ask('c1'), ask('c2'), ask('c3'), done] });
  await talk.answer();
  for (const n of [2, 3]) {
    const { payload } = await talk.nth('event.question.requested', n);
    await talk.session.context.feature(questions).dismiss(String(payload.question_id));
  }
  await talk.idle();
  expect(talk.all('tool.result')[2]?.payload.output).toMatch(/^\{"answers":\{\},"note":.*<system-reminder>.*3 times/s);
  await talk.close();
});

it('an id that was never asked is not found', async () => {
  const talk = await asking();
  await expect(talk.session.context.feature(questions).dismiss('question_x')).rejects.toEqual(failsWith(40405));
  await talk.dismiss();
  await talk.idle();
  await talk.close();
});

it('the end of the server dismisses the pending question and settles the call', async () => {
  const talk = await asking({ answers: [ask()] });
  const last = await talk.session.end('exit');
  await talk.log.close('exit', last);
  expect(talk.since()).toEqual([
    'event.session.work_changed',
    'event.question.dismissed',
    'tool.result',
    'turn.step.interrupted',
    'turn.ended',
    'event.session.work_changed',
    'prompt.aborted',
    'event.session.work_changed',
    'agent.disposed',
  ]);
});

it('after a process was killed while it waited, the next one settles question and call', async () => {
  const talk = await asking({ answers: [ask()] });
  // The files are in the state that a kill would leave.
  const left = join(folder.path, 'left', 'session');
  await mkdir(left, { recursive: true });
  await cp(talk.log.dir, left, { recursive: true });
  for (const name of ['lock.1', 'lock.2']) await rm(join(left, name), { force: true });
  talk.main.cancelTurn();
  await talk.idle();
  await talk.close();
  const next = await openTalk({ dir: join(folder.path, 'left'), services: scriptedModel().services });
  expect(next.durable().map(({ type }) => type)).toContain('event.question.dismissed');
  const result = await next.nth('tool.result');
  expect(result.payload).toMatchObject({ isError: true, synthetic: true, toolCallId: 'c1' });
  await expect(next.session.context.feature(questions).dismiss(talk.id)).rejects.toEqual(failsWith(40902));
  await next.close();
});
