/** The subagents of the running turn, and those in the background; earlier ones are displayed below their calls. */
import type { TranscriptState, TranscriptTask } from '@service-code/client';
import { isObject, textIn } from '../../state/is-object.ts';
import { runningTurn, type SessionView } from '../../state/session-view.ts';
import type { ToolFrame } from '../../state/rows.ts';

export interface Subagent {
  id: string;
  /** The subagent's profile. */
  profile: string;
  description: string;
  state: 'running' | 'done' | 'failed';
  background: boolean;
  /** Only for a failed one. */
  error: string | undefined;
}

/** The newest run of each agent, in the order of their first runs. */
function newestRuns({ tasks }: TranscriptState): Map<string, TranscriptTask> {
  const runs = new Map<string, TranscriptTask>();
  for (const task of tasks.values()) if (task.kind === 'subagent' && task.agentId) runs.set(task.agentId, task);
  return runs;
}

export function shownSubagents({ main }: Pick<SessionView, 'main'>): Subagent[] {
  const runs = newestRuns(main);
  if (runs.size === 0) return [];
  const since = runningTurn(main)?.startedAt;
  return [...runs].flatMap(([id, { taskId, state, description, detached, error, endedAt = '' }]) => {
    // The swarm's card displays its members.
    if (taskId === id) return [];
    if (state !== 'running' && (since === undefined || endedAt < since)) return [];
    const { input } = callOf(main, id) ?? {};
    return {
      id,
      profile: (isObject(input) && textIn(input, 'subagent_type')) || 'agent',
      description: description ?? '',
      state: state === 'running' ? 'running' : state === 'completed' ? 'done' : 'failed',
      background: detached,
      error,
    };
  });
}

/** The newest call that started or resumed the agent. */
function callOf({ items }: TranscriptState, agentId: string): ToolFrame | undefined {
  const isCall = (frame: { kind: string }): frame is ToolFrame => frame.kind === 'tool';
  for (let at = items.length - 1; at >= 0; at -= 1) {
    const item = items[at];
    if (item?.kind !== 'turn') continue;
    const frames = item.steps.flatMap((step) => step.frames).filter(isCall);
    const call = frames.findLast(({ agentRefs }) => agentRefs?.some((ref) => ref.agentId === agentId));
    if (call) return call;
  }
  return undefined;
}
