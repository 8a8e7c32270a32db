/** Subagents as the page shows them: which there are, what they did, how the calls that start them are drawn. */
import { describe, expect, it } from 'vitest';
import { linesOf } from '../../../web/features/subagents/lines.ts';
import { subagentsPart, type Subagents } from '../../../web/features/subagents/part.ts';
import { subagentViews } from '../../../web/features/subagents/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { frameMaker, snapshot, type Draft } from './session-frames.ts';

const spawned = (subagentId: string, runInBackground = false): Draft => ({
  type: 'subagent.spawned',
  payload: { subagentId, subagentName: 'coder', parentToolCallId: 'c', description: 'count', runInBackground },
});
const completed = (subagentId: string): Draft => ({
  type: 'subagent.completed',
  payload: { subagentId, resultSummary: 'Two.' },
});
const turn = (agent = 'main'): Draft => ({
  type: 'turn.started',
  agent,
  payload: { turnId: 0, origin: { kind: 'user' } },
});

function fold(drafts: Draft[], from: Subagents = []): Subagents {
  const make = frameMaker();
  return drafts.reduce((known, draft) => subagentsPart.event?.(known, make(draft)) ?? known, from);
}

describe('the subagents', () => {
  it('are there from their start until the turn after their end', () => {
    const running = fold([turn(), spawned('agent-1'), spawned('agent-2', true)]);
    expect(running).toMatchObject([
      { id: 'agent-1', profile: 'coder', description: 'count', state: 'running', background: false },
      { id: 'agent-2', state: 'running', background: true },
    ]);
    const ended = fold([completed('agent-1')], running);
    expect(ended).toMatchObject([{ id: 'agent-1', state: 'done' }, { id: 'agent-2' }]);
    expect(fold([turn()], ended)).toMatchObject([{ id: 'agent-2', state: 'running' }]);
    expect(fold([turn('agent-2')], ended)).toHaveLength(2);
  });

  it('say why they failed', () => {
    const failed: Draft = { type: 'subagent.failed', payload: { subagentId: 'agent-1', error: 'no' } };
    expect(fold([spawned('agent-1'), failed])).toMatchObject([{ state: 'failed', error: 'no' }]);
  });

  it('have more to read behind each of their own events, and nobody else has', () => {
    const known = fold([spawned('agent-1'), spawned('agent-2')]);
    const [one, other] = fold([turn('agent-1')], known);
    expect([one?.version, other?.version]).toEqual([2, 1]);
    expect(fold([turn('agent-3')], known)).toBe(known);
  });

  it('are taken from the snapshot, but for those behind the turn', () => {
    const known = fold([spawned('agent-1'), spawned('agent-2', true)]);
    const shown = {
      id: 'agent-3',
      session_id: 's',
      kind: 'subagent' as const,
      description: 'look',
      status: 'completed' as const,
      created_at: '2026-01-02T03:04:05.678Z',
      agent_id: 'agent-3',
      subagent_type: 'explore',
      subagent_phase: 'completed' as const,
    };
    expect(subagentsPart.snapshot?.(known, snapshot({ subagents: [shown] }))).toMatchObject([
      { id: 'agent-2', background: true },
      { id: 'agent-3', profile: 'explore', state: 'done', background: false },
    ]);
  });
});

it('what one did reads as its words and calls, and how it ended', () => {
  const at = '2026-01-02T03:04:05.678Z';
  const step = { kind: 'step' as const, stepId: 't0.1', turnId: 't0', ordinal: 1, state: 'completed' as const };
  const items = [
    {
      kind: 'turn' as const,
      turnId: 't0',
      ordinal: 0,
      state: 'failed' as const,
      origin: { kind: 'other' as const },
      startedAt: at,
      error: 'too long',
      steps: [
        {
          ...step,
          frames: [
            { kind: 'text' as const, frameId: 't0.1.f1', role: 'assistant' as const, text: 'Looking.' },
            {
              kind: 'tool' as const,
              frameId: 't0.1.c',
              toolCallId: 'c',
              name: 'Read',
              state: 'done' as const,
              input: { path: 'a' },
            },
          ],
        },
      ],
    },
  ];
  expect(linesOf({ items })).toMatchObject([
    { kind: 'text', text: 'Looking.' },
    { kind: 'call', call: { name: 'Read', input: { path: 'a' } }, state: 'done' },
    { kind: 'end', text: 'too long' },
  ]);
});

it('the call that starts one shows its task', () => {
  const { ofCall, ofDisplay } = createToolViews([subagentViews]);
  const drawn = { verb: 'Agent', prose: true, body: { kind: 'task', text: 'Count the words' } };
  const call = { name: 'Agent', display: undefined, label: undefined, output: undefined };
  expect(ofCall({ ...call, input: { description: 'count', prompt: 'Count the words' } })).toEqual({
    ...drawn,
    subject: 'count',
  });
  expect(ofCall({ ...call, input: { prompt: 5 } })).toEqual({
    verb: 'Agent',
    subject: '',
    prose: true,
    body: undefined,
  });
  const display = { kind: 'agent_call' as const, agent_name: 'coder', prompt: 'Count the words' };
  expect(ofDisplay('Agent', display)).toEqual({ ...drawn, subject: 'coder' });
});
