/** Subagents on the page: the displayed ones, and the views of the calls that start them. */
import { describe, expect, it } from 'vitest';
import type { TranscriptOp, TranscriptTask } from '@service-code/client';
import { shownSubagents } from '../../../web/features/subagents/agents.ts';
import { subagentViews } from '../../../web/features/subagents/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { tool, turn, viewOf } from './transcripts.ts';

const run = (agentId: string, over: Partial<TranscriptTask> = {}): TranscriptOp => ({
  op: 'task.upsert',
  task: {
    taskId: `task-${agentId}`,
    kind: 'subagent',
    state: 'running',
    detached: false,
    description: 'count',
    agentId,
    outputTail: '',
    ...over,
  },
});
const started = (ordinal: number, second: number) => turn(ordinal, { startedAt: `2026-01-02T03:04:0${second}.000Z` });
const ended = { state: 'completed' as const, endedAt: '2026-01-02T03:04:02.000Z' };
const shown = (...ops: TranscriptOp[]) => shownSubagents(viewOf(ops));

describe('the subagents', () => {
  it('are displayed from their start until the end of the turn in which they end', () => {
    const first = [started(0, 1), run('agent-1'), run('agent-2', { detached: true })];
    expect(shown(...first)).toMatchObject([
      { id: 'agent-1', description: 'count', state: 'running', background: false },
      { id: 'agent-2', state: 'running', background: true },
    ]);
    const over = [...first, run('agent-1', ended)];
    expect(shown(...over)).toMatchObject([{ id: 'agent-1', state: 'done' }, { id: 'agent-2' }]);
    expect(shown(...over, turn(0, { state: 'completed' }))).toMatchObject([{ id: 'agent-2', state: 'running' }]);
    expect(shown(...over, started(1, 3))).toMatchObject([{ id: 'agent-2', state: 'running' }]);
  });

  it('have the reason of their failure, and the type of the call that started them', () => {
    const call = tool('t0.1', 'c', {
      name: 'Agent',
      input: { subagent_type: 'coder' },
      agentRefs: [{ agentId: 'agent-1' }],
    });
    const failed = { ...ended, state: 'failed' as const, error: 'no' };
    expect(shown(started(0, 1), call, run('agent-1', failed))).toMatchObject([
      { profile: 'coder', state: 'failed', error: 'no' },
    ]);
    expect(shown(started(0, 1), run('agent-1', { ...failed, state: 'killed' }))).toMatchObject([{ profile: 'agent' }]);
  });

  it('are displayed a single time, by their newest run', () => {
    const again = run('agent-1', { taskId: 'task-2' });
    expect(shown(started(0, 1), run('agent-1', ended), again)).toMatchObject([{ id: 'agent-1', state: 'running' }]);
  });

  it('do not include commands', () => {
    expect(shown(started(0, 1), run('x', { kind: 'shell' }))).toEqual([]);
  });
});

it('the call that starts one displays its task', () => {
  const { ofCall, ofDisplay } = createToolViews([subagentViews]);
  const drawn = { verb: 'Agent', prose: true, body: { kind: 'task', text: 'Count the words', agents: [] } };
  const call = { name: 'Agent' };
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
