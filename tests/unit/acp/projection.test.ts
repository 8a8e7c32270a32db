/** The updates of a transcript: each piece once, joined when the editor is slow. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { applyOps, emptyTranscript, type Frame, type TranscriptOp, type TranscriptState } from '@service-code/client';
import { describe, expect, it } from 'vitest';
import { createProjection } from '../../../clients/acp/projection.ts';

type TurnState = 'running' | 'completed' | 'failed';

const turn = (ordinal: number, state: TurnState, more: object = {}): TranscriptOp => ({
  op: 'turn.upsert',
  turn: {
    kind: 'turn',
    turnId: `t${ordinal}`,
    ordinal,
    state,
    origin: { kind: 'user' },
    prompt: `p${ordinal}`,
    ...more,
  },
});
const frame = (value: Frame, ordinal = 0): TranscriptOp => ({
  op: 'frame.upsert',
  turnId: `t${ordinal}`,
  stepId: `t${ordinal}.1`,
  frame: value,
});
const text = (value: string, ordinal = 0): TranscriptOp =>
  frame({ kind: 'text', frameId: `t${ordinal}.1.f1`, role: 'assistant', text: value }, ordinal);
const call = (members: Partial<Extract<Frame, { kind: 'tool' }>>): TranscriptOp =>
  frame({ kind: 'tool', frameId: 't0.1.c', toolCallId: 'c', name: 'Bash', state: 'running', ...members });

function open({ own = false, notices = true } = {}) {
  const main = emptyTranscript();
  const agents = new Map<string, TranscriptState>([['main', main]]);
  const projection = createProjection({
    cwd: '/',
    isOwn: () => own,
    isOwnText: (value) => own && value === 'mine',
    hasNotices: notices,
  });
  const short = (update: SessionUpdate): string => {
    if ('content' in update && update.content && 'type' in update.content && update.content.type === 'text') {
      return `${update.sessionUpdate.split('_')[0]}: ${update.content.text}`;
    }
    const { sessionUpdate, ...members } = update;
    return `${sessionUpdate} ${Object.keys(members).join()}`;
  };
  return {
    agents,
    main,
    skip: () => projection.skip(agents),
    after(...ops: TranscriptOp[]) {
      applyOps(main, ops);
      return projection.next(agents).map(short);
    },
  };
}

describe('createProjection', () => {
  it('sends each part of a text once', () => {
    const { after } = open();
    expect(after(turn(0, 'running'))).toEqual(['user: p0']);
    expect(after(text('a'))).toEqual(['agent: a']);
    expect(after()).toEqual([]);
    expect(after(text('ab'), text('abc'), text('abcd'))).toEqual(['agent: bcd']);
    expect(after(turn(0, 'completed'), turn(1, 'running'), text('next', 1))).toEqual(['user: p1', 'agent: next']);
    expect(after()).toEqual([]);
  });

  it('divides no character', () => {
    const { after } = open();
    expect(after(turn(0, 'running'), text('a\ud83d'))).toEqual(['user: p0', 'agent: a']);
    expect(after(text('a😀'))).toEqual(['agent: 😀']);
    expect(after(text('a😀\ud83d'), turn(0, 'completed'))).toEqual(['agent: \uFFFD']);
  });

  it('names the attachments of a prompt', () => {
    const { after } = open();
    const attachment: TranscriptOp = {
      op: 'attachment.upsert',
      attachment: { attachmentId: 't0.att1', mediaType: 'image/png' },
    };
    expect(after(attachment, turn(0, 'running', { attachmentIds: ['t0.att1'] }))).toEqual([
      'user: p0',
      'user: [image/png]',
    ]);
  });

  it('starts again when an attempt has failed', () => {
    const { after } = open();
    after(turn(0, 'running'), text('half'));
    expect(after(text(''))).toEqual([]);
    expect(after(text('new'))).toEqual(['agent: new']);
  });

  it('omits the prompts of the editor, and the errors that it gets as a reply', () => {
    const { after } = open({ own: true });
    expect(after(turn(0, 'running'))).toEqual([]);
    const steered = (value: string, n: number): Frame => ({
      kind: 'text',
      frameId: `t0.1.u${n}`,
      role: 'user',
      text: value,
    });
    expect(after(frame(steered('mine', 1)), frame(steered('theirs', 2)))).toEqual(['user: theirs']);
    expect(after(frame({ kind: 'text', frameId: 't0.1.u3', role: 'user', text: 'ended', taskId: 'bash-1' }))).toEqual(
      [],
    );
    expect(after(turn(0, 'failed', { error: 'broken' }))).toEqual([]);
  });

  it('sends the errors of other clients', () => {
    const { after } = open();
    expect(after(turn(0, 'failed', { error: 'broken' }))).toEqual(['user: p0', 'agent: broken']);
    expect(after()).toEqual([]);
  });

  it('sends the members of a call that have changed', () => {
    const { after } = open();
    expect(after(turn(0, 'running'), call({ inputText: '{' }))).toEqual([
      'user: p0',
      'tool_call toolCallId,name,title,kind,status,content,locations',
    ]);
    expect(after(call({ inputText: '{"a' }))).toEqual([]);
    const display = { kind: 'command', command: 'ls' };
    expect(after(call({ input: { command: 'ls' }, display }))).toEqual([
      'tool_call_update toolCallId,title,status,rawInput',
    ]);
    const growing = (value: string) =>
      call({ input: { command: 'ls' }, display, progress: { kind: 'stdout', text: value } });
    expect(after(growing('a'), growing('ab'))).toEqual(['tool_call_update toolCallId,content']);
    expect(after(call({ input: { command: 'ls' }, display, state: 'done', output: 'ab' }))).toEqual([
      'tool_call_update toolCallId,status',
    ]);
  });

  it('sends the to-do list and the size of the context when they change', () => {
    const { after } = open();
    const todo = (...titles: string[]): TranscriptOp => ({
      op: 'todo.upsert',
      todo: { todoId: 'todo', items: titles.map((title) => ({ title, status: 'pending' })) },
    });
    const size = (contextTokens: number): TranscriptOp => ({
      op: 'meta.merge',
      meta: { agent: { contextTokens, maxContextTokens: 100 } },
    });
    expect(after()).toEqual([]);
    expect(after(todo('a'), todo('a', 'b'), size(1))).toEqual(['plan entries', 'usage_update used,size']);
    expect(after(todo('a', 'b'), size(1))).toEqual([]);
    expect(after(todo())).toEqual(['plan entries']);
  });

  it('sends notices once, to editors that display them', () => {
    const notice: TranscriptOp = {
      op: 'marker.upsert',
      item: { kind: 'marker', markerId: 'm1', marker: 'notice', payload: { level: 'warning', message: 'careful' } },
    };
    const { after } = open();
    expect(after(turn(0, 'completed'), notice)).toEqual(['user: p0', 'notice severity,title']);
    expect(after(turn(1, 'running'))).toEqual(['user: p1']);
    expect(open({ notices: false }).after(notice)).toEqual([]);
  });

  it('sends nothing of what was skipped', () => {
    const { after, skip, main } = open();
    applyOps(main, [turn(0, 'completed'), text('old'), turn(1, 'running'), text('half', 1)]);
    skip();
    expect(after(text('half and more', 1))).toEqual(['agent:  and more']);
  });

  it('shows the last line of a subagent, and of its result', () => {
    const { after, agents } = open();
    const child = emptyTranscript();
    agents.set('agent-1', child);
    after(turn(0, 'running'), call({ name: 'Agent', input: {}, agentRefs: [{ agentId: 'agent-1' }] }));
    applyOps(child, [turn(0, 'running'), text('one\ntwo\n```\n')]);
    expect(after()).toEqual(['tool_call_update toolCallId,content']);
    expect(after()).toEqual([]);
  });
});
