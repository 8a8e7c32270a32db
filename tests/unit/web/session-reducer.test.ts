import { describe, expect, it } from 'vitest';
import { doneSteps, emptyView, type SessionView, type StepEntry } from '../../../web/state/session-view.ts';
import { shownEntries } from '../../../web/state/settle.ts';
import { frameMaker, message, play, reduce, session, snapshot, text, type Draft } from './session-frames.ts';

const start = { type: 'snapshot' as const, snapshot: snapshot() };
const prompt = (id: string, status: 'running' | 'queued' = 'running', words = id): Draft => ({
  type: 'prompt.submitted',
  payload: { promptId: id, userMessageId: id, status, content: [{ type: 'text', text: words }], createdAt: '' },
});
const turn = (promptId: string, turnId = 0): Draft => ({
  type: 'turn.started',
  payload: { turnId, promptId, origin: { kind: 'user' } },
});
const stepStart = (step: number, turnId = 0): Draft => ({
  type: 'turn.step.started',
  payload: { turnId, step, stepId: `s${step}` },
});
const stepEnd = (step: number, turnId = 0): Draft => ({
  type: 'turn.step.completed',
  payload: { turnId, step, stepId: `s${step}`, finishReason: 'end_turn' },
});
const delta = (offset: number, words: string, turnId = 0): Draft => ({
  type: 'assistant.delta',
  payload: { turnId, delta: words },
  offset,
});
const turnEnd = (reason: 'completed' | 'cancelled' | 'failed' = 'completed', more: object = {}): Draft => ({
  type: 'turn.ended',
  payload: { turnId: 0, reason, ...more },
});

const steps = (view: SessionView): StepEntry[] => view.entries.filter((entry) => entry.kind === 'step');
const keys = (view: SessionView) => view.entries.map((entry) => entry.key);

it('a prompt that a hook refused stands with the reason, and what hooks add is not shown', () => {
  const said = (content: string, blocked?: true): Draft => ({
    type: 'hook.result',
    payload: { hookEvent: 'UserPromptSubmit', content, ...(blocked ? { blocked } : {}) },
  });
  const view = play([start, prompt('p1'), said('added'), said('not today', true)]);
  expect(view.entries.slice(1)).toMatchObject([
    { kind: 'notice', tone: 'warning', text: 'A hook refused this prompt: not today' },
  ]);
});

describe('a streaming turn', () => {
  it('shows the prompt, then the text as it comes', () => {
    const view = play([start, prompt('p1'), turn('p1'), stepStart(1), delta(0, 'Hel'), delta(3, 'lo')]);
    expect(keys(view)).toEqual(['p1', 'step_0_1']);
    expect(steps(view)[0]?.text).toBe('Hello');
    expect(view.turn).toMatchObject({ turnId: 0, textEnd: 5 });
  });

  it('takes a repeated or overlapping delta once', () => {
    const view = play([start, turn('p1'), stepStart(1), delta(0, 'Hello'), delta(0, 'Hello'), delta(3, 'lo wor')]);
    expect(steps(view)[0]?.text).toBe('Hello wor');
  });

  it('asks for a snapshot when a delta is missing', () => {
    const view = play([start, turn('p1'), stepStart(1), delta(0, 'He'), delta(5, 'x')]);
    expect(view.wants).toBe('snapshot');
    expect(steps(view)[0]?.text).toBe('He');
  });

  it('counts offsets over all steps, a retried one included, whose text is void', () => {
    const view = play([
      start,
      turn('p1'),
      stepStart(1),
      delta(0, 'lost'),
      {
        type: 'turn.step.retrying',
        payload: {
          turnId: 0,
          step: 1,
          stepId: 's1',
          failedAttempt: 1,
          nextAttempt: 2,
          maxAttempts: 10,
          delayMs: 600,
          errorName: 'APIStatusError',
          errorMessage: '500 oops',
        },
      },
    ]);
    expect(view.retry).toMatchObject({ attempt: 2, maxAttempts: 10, reason: '500 oops' });
    const next = play([stepStart(2), delta(4, 'kept')], view, frameMaker(10));
    expect(steps(next).map((step) => step.text)).toEqual(['', 'kept']);
    expect(next.retry).toBeUndefined();
    expect(next.wants).toBe('messages');
  });

  it('ignores what other agents write, call and end', () => {
    const agent = 'agent-1';
    const before = play([start, turn('p1'), stepStart(1), delta(0, 'mine')]);
    const others: Draft[] = [
      delta(0, 'child'),
      { ...delta(4, 'child'), offset: undefined },
      { type: 'tool.call.started', payload: { turnId: 0, toolCallId: 't9', name: 'Bash', args: {} } },
      { type: 'tool.result', payload: { turnId: 0, toolCallId: 't9', output: 'x' } },
      { type: 'warning', payload: { message: 'of a child' } },
      stepEnd(1),
      turnEnd('failed'),
    ];
    expect(
      play(
        others.map((draft) => ({ ...draft, agent })),
        before,
        frameMaker(10),
      ),
    ).toEqual(before);
  });

  it('takes what is new of a merged delta that begins before its end', () => {
    const view = play([start, turn('p1'), stepStart(1), delta(0, 'He'), delta(2, 'llo, w'), delta(1, 'ello, world')]);
    expect(steps(view)[0]?.text).toBe('Hello, world');
    expect(view).toMatchObject({ turn: { textEnd: 12 }, wants: 'nothing' });
  });

  it('leaves events alone that it does not know', () => {
    const before = play([start, turn('p1')]);
    const frame = { ...frameMaker(10)(turn('p1')), type: 'event.of.tomorrow' };
    expect(reduce(before, { type: 'event', frame: frame as never })).toBe(before);
  });
});

describe('finished messages', () => {
  const finished = play([start, prompt('p1'), turn('p1'), stepStart(1), delta(0, 'Hel'), stepEnd(1)]);

  it('are asked for when a step is over and win over its deltas', () => {
    expect(finished.wants).toBe('messages');
    expect(doneSteps(finished)).toBe(1);
    const items = [message('p1', 'user', text('p1')), message('m1', 'assistant', text('Hello'))];
    const view = reduce(finished, { type: 'messages', items, complete: true, done: 1 });
    expect(keys(view)).toEqual(['p1', 'm1']);
    expect(view).toMatchObject({ tail: 'm1', wants: 'nothing' });
  });

  it('leave a step alone that began after they were asked for', () => {
    const running = play([stepStart(2), delta(3, 'more')], finished, frameMaker(10));
    const items = [
      message('p1', 'user', text('p1')),
      message('m1', 'assistant', text('Hello')),
      message('m2', 'assistant', []),
    ];
    const view = reduce(running, { type: 'messages', items, complete: true, done: 1 });
    expect(keys(view)).toEqual(['p1', 'm1', 'step_0_2']);
    expect(steps(view)[0]?.text).toBe('more');
    expect(view.tail).toBe('m1');
  });

  it('keep the order when the next prompt has been shown already', () => {
    const next = play(
      [turnEnd('cancelled', { interruptReason: 'user_cancelled' }), prompt('p2')],
      finished,
      frameMaker(10),
    );
    const items = [
      message('p1', 'user', text('p1')),
      message('m1', 'assistant', text('Hello')),
      message('p2', 'user', text('p2')),
    ];
    const view = reduce(next, { type: 'messages', items, complete: true, done: 1 });
    const kinds = view.entries.map((entry) => (entry.kind === 'notice' ? entry.text : entry.key));
    expect(kinds).toEqual(['p1', 'm1', 'Stopped.', 'p2']);
  });

  it('make way for a snapshot when they do not fit', () => {
    expect(reduce(finished, { type: 'messages', items: [], complete: true, done: 1 }).wants).toBe('snapshot');
    expect(reduce(finished, { type: 'messages', items: [], complete: false, done: 1 }).wants).toBe('snapshot');
  });

  it('fill tool cards with input and output', () => {
    const items = [
      message('m1', 'assistant', [
        { type: 'tool_use', tool_call_id: 't1', tool_name: 'Bash', input: { command: 'ls' } },
      ]),
      message('m2', 'tool', [{ type: 'tool_result', tool_call_id: 't1', output: 'no', is_error: true }]),
    ];
    const view = reduce(finished, { type: 'messages', items, complete: true, done: 1 });
    expect(view.tools['t1']).toMatchObject({ name: 'Bash', input: { command: 'ls' }, output: 'no', state: 'failed' });
    expect(view.tail).toBe('m2');
  });

  it('of reminders and tools are not drawn', () => {
    const hidden = {
      ...message('m0', 'user', text('date')),
      metadata: { origin: { kind: 'injection' as const, variant: 'date' } },
    };
    const items = [hidden, message('m1', 'assistant', text('Hi')), message('m2', 'tool', [])];
    const view = play([{ type: 'snapshot', snapshot: snapshot({ messages: { items, has_more: false } }) }]);
    expect(shownEntries(view).map((entry) => entry.key)).toEqual(['m1']);
  });
});

describe('a snapshot in mid-turn', () => {
  const inFlight = {
    turn_id: 3,
    assistant_text: 'Looking',
    assistant_offset: 100,
    thinking_text: '',
    thinking_offset: 7,
    running_tools: [
      {
        tool_call_id: 't1',
        name: 'Bash',
        args: { command: 'ls' },
        last_progress: { kind: 'stdout' as const, text: 'a\n' },
      },
    ],
    current_prompt_id: 'p1',
  };
  const midTurn = snapshot({
    as_of_seq: 12,
    messages: {
      items: [
        message('p0', 'user', text('before')),
        message('m0', 'assistant', text('earlier')),
        message('p1', 'user', text('now')),
        message('m1', 'assistant', [
          { type: 'tool_use', tool_call_id: 't1', tool_name: 'Bash', input: { command: 'ls' } },
        ]),
      ],
      has_more: true,
    },
    in_flight_turn: inFlight,
  });
  const view = play([{ type: 'snapshot', snapshot: midTurn }]);

  it('shows the running step once, from its own text', () => {
    expect(keys(view)).toEqual(['p0', 'm0', 'p1', 'step_m1']);
    expect(steps(view)[0]).toMatchObject({ text: 'Looking', calls: ['t1'], done: false });
    expect(view.tools['t1']).toMatchObject({ state: 'running', progress: 'a\n' });
    expect(view).toMatchObject({ tail: 'p1', hasOlder: true });
  });

  it('goes on with the delta that follows, and settles', () => {
    const next = play([delta(107, ' on', 3), stepEnd(1, 3)], view, frameMaker(12));
    expect(steps(next)[0]?.text).toBe('Looking on');
    const items = [message('m1', 'assistant', text('Looking on'))];
    const settled = reduce(next, { type: 'messages', items, complete: true, done: 1 });
    expect(keys(settled)).toEqual(['p0', 'm0', 'p1', 'm1']);
  });

  it('does not take the answer before the prompt for the running step', () => {
    const items = midTurn.messages.items.slice(0, 3);
    const early = snapshot({
      messages: { items, has_more: false },
      in_flight_turn: { ...inFlight, assistant_text: '', running_tools: [] },
    });
    const view = play([{ type: 'snapshot', snapshot: early }]);
    expect(keys(view)).toEqual(['p0', 'm0', 'p1']);
    expect(view.turn?.turnId).toBe(3);
    // The step began before the snapshot, so nothing announces it any more.
    const next = play([delta(100, 'First', 3), delta(105, ' words', 3)], view, frameMaker(12));
    expect(steps(next).map(({ text }) => text)).toEqual(['First words']);
    const over = play([stepEnd(1, 3)], next, frameMaker(13));
    expect(over.wants).toBe('messages');
  });
});

describe('tool calls', () => {
  const call = [start, turn('p1'), stepStart(1)];
  const started: Draft = {
    type: 'tool.call.started',
    payload: { turnId: 0, toolCallId: 't1', name: 'Bash', args: { command: 'ls' }, description: 'Running: ls' },
  };
  const written = (part: string): Draft => ({
    type: 'tool.call.delta',
    payload: { turnId: 0, toolCallId: 't1', name: 'Bash', argumentsPart: part },
  });
  const progress = (out: string, replace = false): Draft => ({
    type: 'tool.progress',
    payload: { turnId: 0, toolCallId: 't1', update: { kind: 'stdout', text: out, replace } },
  });
  const result: Draft = { type: 'tool.result', payload: { turnId: 0, toolCallId: 't1', output: 'a\nb\n' } };

  it('go from written over running to done', () => {
    const writing = play([...call, written('{"comm'), written('and":')]);
    expect(writing.tools['t1']).toMatchObject({ state: 'preparing', name: 'Bash', written: 11 });
    expect(steps(writing)[0]?.calls).toEqual(['t1']);
    const running = play([started, progress('a\n'), progress('b\n')], writing, frameMaker(10));
    expect(running.tools['t1']).toMatchObject({ state: 'running', input: { command: 'ls' }, progress: 'a\nb\n' });
    const done = play([result, progress('late')], running, frameMaker(20));
    expect(done.tools['t1']).toMatchObject({ state: 'done', output: 'a\nb\n', progress: '' });
  });

  it('can replace their progress', () => {
    const view = play([...call, started, progress('10 %'), progress('20 %', true)]);
    expect(view.tools['t1']?.progress).toBe('20 %');
  });

  it('are cut when the turn ends without their result', () => {
    const view = play([...call, started, turnEnd('cancelled', { interruptReason: 'aborted' })]);
    expect(view.tools['t1']?.state).toBe('cut');
    expect(view.entries.at(-1)).toMatchObject({ kind: 'notice', text: expect.stringContaining('Interrupted') });
  });
});

describe('prompts and work', () => {
  it('keeps the queue until the turn of a prompt begins', () => {
    const queued = play([start, prompt('p1'), turn('p1'), prompt('p2', 'queued'), prompt('p3', 'queued')]);
    expect(queued.queue.map((item) => item.promptId)).toEqual(['p2', 'p3']);
    const next = play(
      [turnEnd(), turn('p2', 1), { type: 'prompt.aborted', payload: { promptId: 'p3', abortedAt: '' } }],
      queued,
      frameMaker(10),
    );
    expect(next.queue).toEqual([]);
    expect(keys(next)).toEqual(['p1', 'p2']);
  });

  it('merges a queue that was read while events came in', () => {
    const item = (promptId: string) => ({ promptId, content: text(promptId) });
    const view = { ...emptyView, queue: [item('kept'), item('added')] };
    const next = reduce(view, {
      type: 'queue',
      queue: [item('started'), item('kept')],
      before: [item('started'), item('kept')],
    });
    expect(next.queue.map(({ promptId }) => promptId)).toEqual(['kept', 'added']);
  });

  it('forgets the last outcome while a turn runs', () => {
    const idle = play([{ type: 'snapshot', snapshot: snapshot({ session: session({ last_turn_reason: 'failed' }) }) }]);
    const busy = play(
      [
        {
          type: 'event.session.work_changed',
          payload: { busy: true, main_turn_active: true, pending_interaction: 'none' },
        },
      ],
      idle,
    );
    expect(busy.session).toMatchObject({ busy: true, main_turn_active: true });
    expect(busy.session).not.toHaveProperty('last_turn_reason');
  });

  it('says once why a turn failed', () => {
    const error = { code: 'provider.api_error', message: '400 bad thing', retryable: false };
    const view = play([
      start,
      turn('p1'),
      stepStart(1),
      turnEnd('failed', { error }),
      { type: 'error', payload: error },
    ]);
    expect(view.entries.filter((entry) => entry.kind === 'notice')).toMatchObject([
      { tone: 'error', text: '400 bad thing' },
    ]);
    expect(view.turn).toBeUndefined();
  });

  it('becomes idle by the events that settle a crashed turn', () => {
    const running = play([start, prompt('p1'), turn('p1'), stepStart(1), delta(0, 'Hel'), prompt('p2', 'queued')]);
    const view = play(
      [
        { type: 'turn.step.interrupted', payload: { turnId: 0, step: 1, reason: 'aborted' } },
        turnEnd('cancelled', { interruptReason: 'aborted' }),
        { type: 'prompt.aborted', payload: { promptId: 'p1', abortedAt: '' } },
        { type: 'prompt.aborted', payload: { promptId: 'p2', abortedAt: '' } },
        {
          type: 'event.session.work_changed',
          payload: { busy: false, main_turn_active: false, pending_interaction: 'none', last_turn_reason: 'cancelled' },
        },
      ],
      running,
      frameMaker(10),
    );
    expect(view).toMatchObject({ turn: undefined, queue: [], session: { busy: false, last_turn_reason: 'cancelled' } });
    expect(doneSteps(view)).toBe(1);
  });
});
