/** Position and content of `event.session.work_changed` on a line. */
import { describe, expect, it } from 'vitest';
import { withActivity, type Holds } from '#server/journal/activity.ts';
import { applyActivity, idleActivity, type ActivityState } from '#server/journal/projections/activity.ts';
import { entering, event, type Draft } from '#server/journal/records.ts';
import { iso, type TurnOutcome } from '#schema/scalars.ts';

const AT = iso(0);
const MAIN = 'main';
const SUB = 'agent-1';

const started = (agent = MAIN) => event(agent, 'turn.started', { turnId: 0, origin: { kind: 'user' } });
const ended = (reason: TurnOutcome | 'blocked' = 'completed', agent = MAIN) =>
  event(agent, 'turn.ended', { turnId: 0, reason });
const settled = event(MAIN, 'prompt.completed', { promptId: 'p', finishedAt: AT, reason: 'completed' });
const aborted = (promptId = 'p') => event(MAIN, 'prompt.aborted', { promptId, abortedAt: AT });
const disposed = (agent = MAIN) => event(agent, 'agent.disposed', {}, { reason: 'closed' });
const warning = event(MAIN, 'warning', { message: '' });
const reminded = entering(MAIN, [], { cause: 'reminder' });

const approval = {
  approval_id: 'approval_1',
  session_id: 's',
  agent_id: MAIN,
  tool_call_id: 'c',
  tool_name: 'Bash',
  action: '',
  tool_input_display: { kind: 'generic' as const, summary: '' },
  created_at: AT,
  expires_at: AT,
};
const wanted = (agent = MAIN) =>
  event(agent, 'event.approval.requested', { ...approval, approval_id: `approval of ${agent}` });
const resolved = (agent = MAIN) =>
  event(agent, 'event.approval.resolved', {
    approval_id: `approval of ${agent}`,
    decision: 'approved',
    resolved_at: AT,
  });
const question = event(MAIN, 'event.question.requested', {
  question_id: 'q',
  session_id: 's',
  questions: [],
  created_at: AT,
});
const answered = event(MAIN, 'event.question.answered', { question_id: 'q', answers: {}, resolved_at: AT });
const dismissed = event(MAIN, 'event.question.dismissed', { question_id: 'q', dismissed_at: AT });
const result = event(MAIN, 'tool.result', { turnId: 0, toolCallId: 'c', output: '' });

const info = {
  taskId: 'bash-1',
  kind: 'process' as const,
  description: '',
  status: 'running' as const,
  command: '',
  startedAt: 0,
  endedAt: null,
  detached: true,
  pid: 1,
  exitCode: null,
};
const task = event(SUB, 'task.started', { info });
const taskEnded = event(SUB, 'task.terminated', { info: { ...info, status: 'completed' } }, { outputTail: '' });
const compaction = event(SUB, 'compaction.started', { trigger: 'manual' });
const compacted = event(SUB, 'compaction.cancelled', {}, { cause: 'failed' });

/** Short form of a draft: `work(busy, main, pending, last)`, other records by the last word of their type. */
const shown = (draft: Draft) => {
  if (draft.type !== 'event.session.work_changed') return draft.type.split('.').at(-1);
  const { agent, busy, main_turn_active, pending_interaction, last_turn_reason = '-' } = draft;
  return `${agent === MAIN ? '' : agent}work(${busy}, ${main_turn_active}, ${pending_interaction}, ${last_turn_reason})`;
};

/** Completes lines one after another and folds them, like the writer. */
function play(...lines: (Draft[] | [Draft[], Partial<Holds>])[]): (string | undefined)[][] {
  const activity: ActivityState = idleActivity();
  return lines.map((line) => {
    const [drafts, holds]: [Draft[], Partial<Holds>] = isHeld(line) ? line : [line, {}];
    const completed = withActivity(activity, { held: false, changed: false, ...holds }, drafts);
    for (const draft of completed) applyActivity(activity, draft);
    return completed.map(shown);
  });
}
const isHeld = (line: Draft[] | [Draft[], Partial<Holds>]): line is [Draft[], Partial<Holds>] => Array.isArray(line[0]);
const last = (...lines: Parameters<typeof play>) => play(...lines).at(-1);

describe('the position', () => {
  it('is directly after the start of a turn', () => {
    expect(last([warning, started(), reminded])).toEqual([
      'warning',
      'started',
      'work(true, true, none, -)',
      'spliced',
    ]);
  });

  it('is before the first prompt that ends, after all records of the turn', () => {
    expect(last([started()], [result, ended(), reminded, settled])).toEqual([
      'result',
      'ended',
      'spliced',
      'work(false, false, none, completed)',
      'completed',
    ]);
  });

  it('is the end of a line that ends no prompt', () => {
    expect(last([started()], [ended('failed'), reminded])).toEqual([
      'ended',
      'spliced',
      'work(false, false, none, failed)',
    ]);
  });

  it('is before several ends, a single time', () => {
    expect(last([started()], [ended('cancelled'), aborted(), aborted('p2'), disposed()])).toEqual([
      'ended',
      'work(false, false, none, -)',
      'aborted',
      'aborted',
      'disposed',
    ]);
  });

  it.each([
    ['an approval', wanted(), resolved(), 'approval'],
    ['a question', question, answered, 'question'],
    ['a question that is dismissed', question, dismissed, 'question'],
  ])('is directly before the record that opens or closes %s', (_what, opens, closes, pending) => {
    expect(play([started()], [warning, opens], [closes, result]).slice(1)).toEqual([
      ['warning', `work(true, true, ${pending}, -)`, 'requested'],
      ['work(true, true, none, -)', shown(closes), 'result'],
    ]);
  });

  it('is both before a resolution and before the aborted prompt', () => {
    expect(last([started()], [wanted()], [resolved(), ended('cancelled'), reminded, aborted()])).toEqual([
      'work(true, true, none, -)',
      'resolved',
      'ended',
      'spliced',
      'work(false, false, none, cancelled)',
      'aborted',
    ]);
  });
});

describe('no work_changed is added', () => {
  it('on a line without activity', () => {
    expect(last([warning, settled, reminded])).toEqual(['warning', 'completed', 'spliced']);
  });

  it('when it would repeat the last one', () => {
    const lines = play([started()], [started(SUB)], [wanted()], [wanted(SUB)], [resolved()], [ended('completed', SUB)]);
    expect(lines.slice(1)).toEqual([
      ['started'],
      ['work(true, true, approval, -)', 'requested'],
      ['requested'],
      ['resolved'],
      ['ended'],
    ]);
  });

  it('for an end before the first work_changed', () => {
    expect(last([disposed()])).toEqual(['disposed']);
  });
});

describe('the content', () => {
  it('busy includes turns, tasks and compactions of every agent; the main turn only the main agent’s', () => {
    const lines = play(
      [started(SUB)],
      [task],
      [ended('completed', SUB)],
      [compaction],
      [taskEnded],
      [compacted],
      [started()],
      [ended()],
    );
    expect(lines).toEqual([
      ['started', 'work(true, false, none, -)'],
      ['started'],
      ['ended'],
      ['started'],
      ['terminated'],
      ['cancelled', 'work(false, false, none, -)'],
      ['started', 'work(true, true, none, -)'],
      ['ended', 'work(false, false, none, completed)'],
    ]);
  });

  it('an approval takes precedence over a question', () => {
    expect(play([started()], [question], [wanted()], [answered], [resolved()]).map((line) => line[0])).toEqual([
      'started',
      'work(true, true, question, -)',
      'work(true, true, approval, -)',
      'answered',
      'work(true, true, none, -)',
    ]);
  });

  it('the outcome is that of main’s last turn, reset while its turn runs; a blocked turn failed', () => {
    expect(last([started()], [ended('blocked')])).toEqual(['ended', 'work(false, false, none, failed)']);
    expect(last([started()], [ended()], [started()])).toEqual(['started', 'work(true, true, none, -)']);
    expect(last([started()], [ended()], [started(SUB)])).toEqual(['started', 'work(true, false, none, completed)']);
  });

  it('the disposal of main removes the outcome, that of another agent does not; after a new creation it returns', () => {
    expect(play([started()], [ended()], [disposed(SUB)], [disposed()]).slice(2)).toEqual([
      ['disposed'],
      ['work(false, false, none, -)', 'disposed'],
    ]);
    const born = (agent = MAIN) => event(agent, 'agent.created', {});
    expect(last([started()], [ended()], [disposed()], [born()], [started(SUB)])).toEqual([
      'started',
      'work(true, false, none, completed)',
    ]);
    expect(last([started()], [ended()], [disposed()], [born(SUB)], [started(SUB)])).toEqual([
      'started',
      'work(true, false, none, -)',
    ]);
  });

  it('work without a record is busy; a change of it causes a line of its own', () => {
    const hold = { held: true, changed: true };
    const release = { held: false, changed: true };
    expect(play([[warning], hold], [[started()], { held: true }], [[], release])).toEqual([
      ['warning', 'work(true, false, none, -)'],
      ['started', 'work(true, true, none, -)'],
      [],
    ]);
    expect(play([[], hold], [[aborted()], release])).toEqual([
      ['work(true, false, none, -)'],
      ['work(false, false, none, -)', 'aborted'],
    ]);
  });
});

it('does not mutate the fold before the line', () => {
  const activity = idleActivity();
  withActivity(activity, { held: false, changed: false }, [started(), wanted(), task]);
  expect(activity).toEqual(idleActivity());
});
