/** The message list of the main agent: the positions of the bodies in the journal. */
import { describe, expect, it } from 'vitest';
import { applyBatch } from '#server/journal/fold.ts';
import {
  messageId,
  messagesProjection,
  placeOfMessage,
  type MessagesState,
} from '#server/journal/projections/messages.ts';
import { event, internal, type CompleteDraft } from '#server/journal/records.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { folded, SESSION_ID } from './folded.ts';

const MAIN = 'main';
type Lines = (CompleteDraft | CompleteDraft[])[];

const said = (id?: string): ContextMessage => ({
  role: 'user',
  content: [],
  toolCalls: [],
  ...(id === undefined ? {} : { id }),
});
const spliced = (
  at: number,
  remove: number,
  messages: ContextMessage[],
  x: Parameters<typeof event<'context.spliced'>>[3] = { cause: 'input' },
  agent = MAIN,
) => event(agent, 'context.spliced', { start: at, deleteCount: remove, messages, tokens: 0 }, x);
const step = (agent = MAIN) => event(agent, 'turn.step.started', { turnId: 0, step: 1, stepId: 's' });
const response = (calls: string[] = [], more: { partial?: true } = {}) =>
  internal(MAIN, 'step.response', {
    turnId: 0,
    step: 1,
    stepId: 's',
    parts: [],
    calls: calls.map((id) => ({ id, name: 'Bash', arguments: '{}' })),
    model: 'm',
    ...more,
  });
const result = (toolCallId: string) => event(MAIN, 'tool.result', { turnId: 0, toolCallId, output: '' });
const warning = event(MAIN, 'warning', { message: 'x' });

const list = (...lines: Lines) => folded(...lines).messages;
const roles = ({ history }: MessagesState) => history.map(({ role }) => role);
const ids = (state: MessagesState) => state.history.map((_, index) => messageId(state, index));

describe('the list', () => {
  it('has the position of each message: line, record, and index in a record of several', () => {
    const { history } = list(
      [warning, spliced(0, 0, [said('a'), said('b')])],
      step(),
      [warning, response(['c'])],
      result('c'),
    );
    expect(history).toStrictEqual([
      { id: 'a', role: 'user', t: 1000, line: 0, record: 1, message: 0 },
      { id: 'b', role: 'user', t: 1001, line: 0, record: 1, message: 1 },
      { role: 'assistant', t: 2000, line: 200, record: 1 },
      { role: 'tool', t: 4000, line: 300, record: 0 },
    ]);
  });

  it('has times that increase, also of messages of the same line', () => {
    const { history } = list(spliced(0, 0, [said(), said(), said()]), spliced(3, 0, [said()]));
    expect(history.map(({ t }) => t)).toEqual([1000, 1001, 1002, 2000]);
  });

  it('is that of the main agent', () => {
    expect(roles(list(spliced(0, 0, [said()], { cause: 'input' }, 'agent-0'), step('agent-0')))).toEqual([]);
  });

  it('has messages by their ids, which are derived from the index where a record has none', () => {
    const state = list(spliced(0, 0, [said('a'), said()]));
    expect(ids(state)).toEqual(['a', `msg_${SESSION_ID}_000001`]);
    expect(
      ['a', `msg_${SESSION_ID}_000001`, `msg_${SESSION_ID}_000000`, 'x'].map((id) => placeOfMessage(state, id)),
    ).toEqual([0, 1, -1, -1]);
  });
});

describe('a step', () => {
  it('has a message from its start, and results only of calls that wait', () => {
    expect(roles(list(step()))).toEqual(['assistant']);
    expect(roles(list(step(), response(['c', 'd']), result('d'), result('x'), result('d')))).toEqual([
      'assistant',
      'tool',
    ]);
    expect(roles(list(step(), response(['c'], { partial: true }), result('c')))).toEqual(['assistant']);
    expect(roles(list(response(['c']), result('c')))).toEqual([]);
    for (const end of [
      event(MAIN, 'turn.step.completed', { turnId: 0, step: 1, stepId: 's', finishReason: 'end_turn' }),
      event(MAIN, 'turn.step.interrupted', { turnId: 0, step: 1, stepId: 's', reason: 'aborted' }),
      event(MAIN, 'turn.step.retrying', {
        turnId: 0,
        step: 1,
        stepId: 's',
        failedAttempt: 1,
        nextAttempt: 2,
        maxAttempts: 3,
        delayMs: 0,
        errorName: 'e',
        errorMessage: 'm',
      }),
      event(MAIN, 'turn.ended', { turnId: 0, reason: 'completed' }),
    ]) {
      expect([end.type, roles(list(step(), response(['c']), end, result('c')))]).toEqual([end.type, ['assistant']]);
    }
  });
});

describe('splices', () => {
  const three = spliced(0, 0, [said('a'), said('b'), said('c')]);

  it('of an undo or a removal drop their messages, and later splices find the others', () => {
    for (const cause of ['undo', 'remove'] as const) {
      const lines = [three, spliced(1, 1, [], { cause })];
      expect(ids(list(...lines))).toEqual(['a', 'c']);
      expect(ids(list(...lines, spliced(1, 1, [], { cause })))).toEqual(['a']);
      expect(ids(list(...lines, spliced(0, 2, [], { cause })))).toEqual([]);
    }
  });

  it('of other causes drop none', () => {
    expect(ids(list(three, spliced(0, 2, [said('d')])))).toEqual(['a', 'b', 'c', 'd']);
    const state = list(three, internal(MAIN, 'context.cleared', {}), spliced(0, 0, [said('d')]));
    expect(state.places).toEqual([3]);
    expect(ids(state)).toEqual(['a', 'b', 'c', 'd']);
    expect(ids(list(three, internal(MAIN, 'context.cleared', {}), spliced(0, 3, [], { cause: 'undo' })))).toEqual([
      'a',
      'b',
      'c',
    ]);
  });

  it('of a compaction add the summary, and no message that the context still has', () => {
    const compacted = spliced(0, 3, [said('summary'), said('c')], { cause: 'compaction', from: [null, 2] });
    const state = list(three, compacted);
    expect(ids(state)).toEqual(['a', 'b', 'c', 'summary']);
    // The entries of the context are the summary and the message that was there before.
    expect(ids(list(three, compacted, spliced(1, 1, [], { cause: 'undo' })))).toEqual(['a', 'b', 'summary']);
    expect(ids(list(three, compacted, spliced(0, 1, [], { cause: 'undo' })))).toEqual(['a', 'b', 'c']);
    const unlisted = spliced(0, 3, [said('x'), said('y')], { cause: 'compaction' });
    expect(ids(list(three, unlisted))).toEqual(['a', 'b', 'c', 'x', 'y']);
    const unknown = spliced(0, 3, [said('x')], { cause: 'compaction', from: [9] });
    expect(ids(list(three, unknown))).toEqual(['a', 'b', 'c', 'x']);
    const other = spliced(3, 0, [said('x')], { cause: 'copy', from: [0] });
    expect(ids(list(three, other))).toEqual(['a', 'b', 'c', 'x']);
  });
});

describe('records that are folded before they are written', () => {
  it('are part of the position until their line is known', () => {
    const state = folded(spliced(0, 0, [said('a')]), step());
    const records = [response(['c']), result('c')];
    applyBatch(state, { t: 9000, records });
    expect(state.messages.history.slice(1)).toStrictEqual([
      { role: 'assistant', t: 2000, line: undefined, record: 0, unwritten: records[0] },
      { role: 'tool', t: 9000, line: undefined, record: 1, unwritten: records[1] },
    ]);
    messagesProjection.written(state.messages, 777);
    expect(state.messages.history).toStrictEqual([
      { id: 'a', role: 'user', t: 1000, line: 0, record: 0, message: 0 },
      { role: 'assistant', t: 2000, line: 777, record: 0 },
      { role: 'tool', t: 9000, line: 777, record: 1 },
    ]);
  });
});
