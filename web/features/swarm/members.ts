/** The members of a swarm as its card shows them, read from the transcript of their caller. */
import type { SessionView } from '../../state/session-view.ts';
import type { SwarmBody } from './views.ts';

export type MemberState = 'to come' | 'running' | 'waiting' | 'done' | 'failed' | 'aborted' | 'not started';

export interface SwarmMember {
  /** Once it has begun. */
  agentId: string | undefined;
  /** Its item, or that it goes on. */
  name: string;
  state: MemberState;
  /** Why it waits or failed. */
  reason: string | undefined;
}

/** In the order of the swarm; they begin in that order, so those that have not are the last. */
export function membersOf(
  { agents, names, running }: SwarmBody,
  view: Pick<SessionView, 'main' | 'agents'>,
): SwarmMember[] {
  const begun = agents.map((agentId, at): SwarmMember => {
    const task = view.main.tasks.get(agentId);
    const name = names[at] ?? task?.description ?? agentId;
    switch (task?.state) {
      case 'completed':
        return { agentId, name, state: 'done', reason: undefined };
      case 'failed':
        return { agentId, name, state: 'failed', reason: task.error };
      case 'killed':
        return { agentId, name, state: 'aborted', reason: task.error };
      default: {
        // Between the turn that the provider broke off and the one that goes on.
        const waits = task?.stateReason !== undefined && view.agents.get(agentId)?.meta.agent?.phase?.kind === 'ended';
        return { agentId, name, state: waits ? 'waiting' : 'running', reason: waits ? task.stateReason : undefined };
      }
    }
  });
  const left = names.slice(agents.length).map((name): SwarmMember => ({
    agentId: undefined,
    name,
    state: running ? 'to come' : 'not started',
    reason: undefined,
  }));
  return [...begun, ...left];
}

const ORDER: readonly MemberState[] = ['done', 'failed', 'aborted', 'running', 'waiting', 'to come', 'not started'];

/** How many stand how. */
export function countsOf(members: readonly SwarmMember[]): string {
  return ORDER.flatMap((state) => {
    const count = members.filter((member) => member.state === state).length;
    return count > 0 ? [`${count} ${state}`] : [];
  }).join(' · ');
}
