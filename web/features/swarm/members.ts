/** The members of a swarm for its card, read from the transcript of their caller. */
import { t, type PlainKey } from '../../messages/messages.ts';
import type { SessionView } from '../../state/session-view.ts';
import type { NamedMember, SwarmBody } from './views.ts';

export type MemberState = 'planned' | 'running' | 'waiting' | 'done' | 'failed' | 'aborted' | 'unstarted';

export interface SwarmMember {
  /** Undefined until it has started. */
  agentId: string | undefined;
  /** The member's item, or a note that it is resumed. */
  name: string;
  state: MemberState;
  /** The reason of a wait or a failure. */
  reason: string | undefined;
}

type Seen = Pick<SessionView, 'main' | 'agents'>;

/** Longer names of tasks may have been truncated. */
const WHOLE_NAME_CHARS = 900;

const isNamedAfter = (item: string, name: string | undefined) =>
  name !== undefined && (name === item || (name.length > WHOLE_NAME_CHARS && item.startsWith(name)));

/** Assigns agents to members. The order of their starts varies, but the task of each is named after its item. */
function agentsOf({ agents, named }: SwarmBody, { main }: Seen): (string | undefined)[] {
  const free = new Set(agents);
  const take = (wanted: (agentId: string) => boolean) => {
    const agentId = [...free].find(wanted);
    if (agentId !== undefined) free.delete(agentId);
    return agentId;
  };
  return named.map((member) =>
    'agentId' in member
      ? take((agentId) => agentId === member.agentId)
      : take((agentId) => isNamedAfter(member.item, main.tasks.get(agentId)?.description)),
  );
}

const nameOf = (member: NamedMember) =>
  'item' in member ? member.item : t('swarm.resumed', { agent: member.agentId });

/** In the order of the call's members. */
export function membersOf(body: SwarmBody, view: Seen): SwarmMember[] {
  const agents = agentsOf(body, view);
  return body.named.map((member, at): SwarmMember => {
    const name = nameOf(member);
    const agentId = agents[at];
    if (agentId === undefined) {
      return { agentId, name, state: body.running ? 'planned' : 'unstarted', reason: undefined };
    }
    const task = view.main.tasks.get(agentId);
    switch (task?.state) {
      case 'completed':
        return { agentId, name, state: 'done', reason: undefined };
      case 'failed':
        return { agentId, name, state: 'failed', reason: task.error };
      case 'killed':
        return { agentId, name, state: 'aborted', reason: task.error };
      default: {
        // Between the turn that the provider interrupted and the one that continues.
        const waits = task?.stateReason !== undefined && view.agents.get(agentId)?.meta.agent?.phase?.kind === 'ended';
        return { agentId, name, state: waits ? 'waiting' : 'running', reason: waits ? task.stateReason : undefined };
      }
    }
  });
}

/** The words of the states. */
export const stateWords = {
  planned: 'swarm.planned',
  running: 'swarm.running',
  waiting: 'swarm.waiting',
  done: 'swarm.done',
  failed: 'swarm.failed',
  aborted: 'swarm.aborted',
  unstarted: 'swarm.unstarted',
} as const satisfies Record<MemberState, PlainKey>;

const ORDER: readonly MemberState[] = ['done', 'failed', 'aborted', 'running', 'waiting', 'planned', 'unstarted'];

/** Counts the members by state, as text. */
export function countsOf(members: readonly SwarmMember[]): string {
  return ORDER.flatMap((state) => {
    const count = members.filter((member) => member.state === state).length;
    return count > 0 ? [t('swarm.count', { count, state: t(stateWords[state]) })] : [];
  }).join(' · ');
}
