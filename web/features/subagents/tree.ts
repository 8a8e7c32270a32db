/** The subagents of a session as a tree: below each agent those that it has started. */
import { MAIN_AGENT, type TranscriptState, type TranscriptTask } from '@service-code/client';
import type { SessionView } from '../../state/session-view.ts';

export type AgentState = 'running' | 'done' | 'failed' | 'stopped';

export interface AgentNode {
  id: string;
  /** The task of its newest run; an agent of a swarm has none. */
  taskId: string | undefined;
  description: string;
  state: AgentState;
  /** Whether no call waits for it. */
  isDetached: boolean;
  model: string | undefined;
  /** All tokens of its turns. */
  tokens: number;
  /** From 1. */
  level: number;
}

const STATES: Partial<Record<TranscriptTask['state'], AgentState>> = {
  running: 'running',
  completed: 'done',
  failed: 'failed',
  timed_out: 'failed',
};

function tokensOf({ items }: Pick<TranscriptState, 'items'>): number {
  let sum = 0;
  for (const item of items) {
    if (item.kind !== 'turn') continue;
    const { inputTokens = 0, outputTokens = 0, cachedTokens = 0 } = item.usage ?? {};
    sum += inputTokens + outputTokens + cachedTokens;
  }
  return sum;
}

/** In the order of their starts, each followed by those that it has started; an agent that was resumed is listed once. */
export function agentTree({ agents }: Pick<SessionView, 'agents'>): AgentNode[] {
  const seen = new Set<string>([MAIN_AGENT]);

  function below(agentId: string, level: number): AgentNode[] {
    const runs = new Map<string, TranscriptTask>();
    for (const task of agents.get(agentId)?.tasks.values() ?? []) {
      if (task.kind === 'subagent' && task.agentId && !seen.has(task.agentId)) runs.set(task.agentId, task);
    }
    return [...runs].flatMap(([id, task]) => {
      seen.add(id);
      const state = agents.get(id);
      const node: AgentNode = {
        id,
        taskId: task.taskId === id ? undefined : task.taskId,
        description: task.description ?? '',
        state: STATES[task.state] ?? 'stopped',
        isDetached: task.detached,
        model: state?.meta.agent?.model,
        tokens: state ? tokensOf(state) : 0,
        level,
      };
      return [node, ...below(id, level + 1)];
    });
  }

  return below(MAIN_AGENT, 1);
}
