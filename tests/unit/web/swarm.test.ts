/** Swarms on the page: the view of the call, the states of its members, whether the mode is on. */
import { expect, it } from 'vitest';
import type { TranscriptOp, TranscriptTask } from '@service-code/client';
import { shownSubagents } from '../../../web/features/subagents/agents.ts';
import { countsOf, membersOf } from '../../../web/features/swarm/members.ts';
import { swarmViews } from '../../../web/features/swarm/views.ts';
import { createToolViews } from '../../../web/render/tool-view.ts';
import { factsOf } from '../../../web/state/session-view.ts';
import { turn, viewOf } from './transcripts.ts';

const member = (agentId: string, over: Partial<TranscriptTask> = {}): TranscriptOp => ({
  op: 'task.upsert',
  task: { taskId: agentId, kind: 'subagent', state: 'running', detached: false, agentId, outputTail: '', ...over },
});
const ended: TranscriptOp = {
  op: 'meta.merge',
  meta: { agent: { phase: { kind: 'ended', turnId: 0, reason: 'failed', at: 1 } } },
};

it('a call is drawn by its members: the resumed ones, then the items', () => {
  const { ofCall } = createToolViews([swarmViews]);
  const input = { description: 'look', items: ['a', 'b'], resume_agent_ids: { 'agent-1': 'Go on' } };
  const named = [{ agentId: 'agent-1' }, { item: 'a' }, { item: 'b' }];
  const call = { name: 'AgentSwarm', input };
  const body = { kind: 'swarm', agents: [], named, running: true };
  expect(ofCall(call)).toEqual({ verb: 'Swarm', subject: 'look', prose: true, body });
  expect(ofCall({ ...call, agents: ['agent-1'], output: 'x' })).toEqual({
    verb: 'Swarm',
    subject: 'look',
    prose: true,
    body: { ...body, agents: ['agent-1'], running: false },
    opens: 'while running',
    output: 'on failure',
  });
  for (const nothing of [{}, { items: 'a', resume_agent_ids: [] }, 'text', undefined]) {
    expect(ofCall({ name: 'AgentSwarm', input: nothing })).toEqual({ verb: 'Swarm', subject: '', prose: true });
  }
});

it('its members have their states from the transcript', () => {
  const view = viewOf(
    [
      member('agent-1', { state: 'completed', description: 'a' }),
      member('agent-2', { state: 'failed', error: 'no', description: 'b' }),
      member('agent-3', { state: 'killed', error: 'interrupted', description: 'c' }),
      member('agent-4', { stateReason: '429 slow down', description: 'd' }),
      member('agent-5', { stateReason: '429 slow down', description: 'e' }),
      member('agent-6', { description: 'f' }),
    ],
    { 'agent-4': [ended], 'agent-6': [ended] },
  );
  const agents = [1, 2, 3, 4, 5, 6].map((number) => `agent-${number}`);
  const named = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((item) => ({ item }));
  const members = membersOf({ kind: 'swarm', agents, named, running: true }, view);
  expect(members.map(({ name, state, reason }) => [name, state, reason])).toEqual([
    ['a', 'done', undefined],
    ['b', 'failed', 'no'],
    ['c', 'aborted', 'interrupted'],
    ['d', 'waiting', '429 slow down'],
    // It has been resumed meanwhile.
    ['e', 'running', undefined],
    ['f', 'running', undefined],
    ['g', 'planned', undefined],
  ]);
  expect(countsOf(members)).toBe('1 done · 1 failed · 1 aborted · 2 running · 1 waiting · 1 to come');
  expect(membersOf({ kind: 'swarm', agents: [], named: [{ item: 'a' }], running: false }, view)).toMatchObject([
    { agentId: undefined, state: 'unstarted' },
  ]);
});

it('each member is the agent that works on its item, for any order of their starts', () => {
  const long = 'x'.repeat(1200);
  const described = {
    'agent-2': 'b',
    'agent-3': long.slice(0, 1000),
    'agent-4': 'a',
    'agent-5': 'a',
    'agent-1': 'look',
  };
  const view = viewOf(Object.entries(described).map(([id, description]) => member(id, { description })));
  const named = [{ agentId: 'agent-1' }, ...['a', 'a', 'ab', 'b', long].map((item) => ({ item }))];
  const members = membersOf({ kind: 'swarm', agents: Object.keys(described), named, running: true }, view);
  expect(members.map(({ name, agentId }) => [name.slice(0, 15), agentId])).toEqual([
    ['agent-1 goes on', 'agent-1'],
    ['a', 'agent-4'],
    ['a', 'agent-5'],
    ['ab', undefined],
    ['b', 'agent-2'],
    [long.slice(0, 15), 'agent-3'],
  ]);
});

it('its members have no separate cards', () => {
  const begun = turn(0, { startedAt: '2026-01-02T03:04:01.000Z' });
  expect(shownSubagents(viewOf([begun, member('agent-1'), member('agent-2', { taskId: 'task-2' })]))).toMatchObject([
    { id: 'agent-2' },
  ]);
});

it('the mode is on while the transcript has it', () => {
  const on: TranscriptOp = { op: 'meta.merge', meta: { modes: { swarm: { trigger: 'manual' } } } };
  expect(factsOf(viewOf([])).swarmMode).toBe(false);
  expect(factsOf(viewOf([on])).swarmMode).toBe(true);
  expect(factsOf(viewOf([on, { op: 'meta.merge', meta: { modes: { swarm: null } } }])).swarmMode).toBe(false);
});
