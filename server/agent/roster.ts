/** The agents of a loaded session; main is the first. One that is idle need not stay in memory: the journal has it. */
import { readContext } from '#server/journal/projections/context.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Caller } from '#schema/caller.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { AgentBirth } from './agent-config.ts';
import { agentNotFound, createAgent, type Agent } from './agent.ts';
import type { SessionContext } from './context.ts';
import { alreadyCompleted } from './prompt-queue.ts';

export interface Roster {
  readonly main: Agent;
  /** Those in memory: main, then by creation. */
  all(): Agent[];
  /** The agent, if it is in memory. */
  find(id: string): Agent | undefined;
  /** The session has an agent of this id, in memory or not. */
  has(id: string): boolean;
  /**
   * The agent for as long as the work goes on, made from the journal when it is not in memory. Throws 40401 for one that
   * the session does not have.
   */
  use<T>(id: string, work: (agent: Agent) => T | Promise<T>): Promise<T>;
  /** A new agent, its birth recorded, for as long as the work goes on. The session must be claimed. Throws 50003. */
  create<T>(birth: AgentBirth, work: (agent: Agent) => T | Promise<T>): Promise<T>;
  /** Sets the mode of all agents that lived in this process. The session must be claimed. Throws 50003. */
  setPermission(mode: PermissionMode, by?: Caller): Promise<void>;
  /** Aborts a prompt of whichever agent has it, main first. Throws 40402, 40903, 50003. */
  abortPrompt(promptId: string): void;
  /** Steers prompts of whichever agent has them all. Throws 40402, 50003. */
  steer(promptIds: readonly string[]): void;
  /** No turn runs and no prompt waits. */
  idle(): boolean;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Ends all agents; returns the records of their ends, main's first, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}

/** Idle agents beside main that stay in memory: whoever talks with one does so again soon. */
const KEPT_IDLE = 4;

interface Member {
  agent: Agent;
  /** Work that needs it under way. */
  users: number;
}

/** Creates the roster over a loaded journal; appends nothing. */
export function createRoster(session: SessionContext): Roster {
  const { log } = session;
  const main = createAgent(session, MAIN_AGENT);
  /** Beside main, the longest unused first. */
  const members = new Map<string, Member>();
  /** Those whose birth in this process is recorded, in its order. */
  const lived = new Set<string>();

  const all = () => [main, ...[...members.values()].map(({ agent }) => agent).toSorted(byNumber)];
  const has = (id: string) => id === MAIN_AGENT || log.state.status.agents.has(id);
  const find = (id: string) => (id === MAIN_AGENT ? main : members.get(id)?.agent);

  function member(id: string, birth?: AgentBirth): Member {
    const known = members.get(id);
    const created = lived.has(id);
    const made = known ?? { agent: createAgent(session, id, { birth, created, onIdle: letGo }), users: 0 };
    members.delete(id);
    members.set(id, made);
    return made;
  }

  async function during<T>(used: Member, work: (agent: Agent) => T | Promise<T>): Promise<T> {
    used.users += 1;
    try {
      return await work(used.agent);
    } finally {
      used.users -= 1;
      letGo();
    }
  }

  /** Forgets agents that nobody needs, but for the last few. */
  function letGo(): void {
    let idle = 0;
    for (const [id, { agent, users }] of [...members].toReversed()) {
      if (agent.context.config.created) lived.add(id);
      if (users > 0 || !agent.idle()) continue;
      idle += 1;
      if (idle > KEPT_IDLE) members.delete(id);
    }
  }

  return {
    main,
    all,
    find,
    has,
    async use(id, work) {
      if (id === MAIN_AGENT) return work(main);
      if (!has(id)) throw agentNotFound(id);
      return during(member(id), work);
    },
    async create(birth, work) {
      // Numbers begin at 1, and are given by the record of the birth.
      const id = `agent-${Math.max(log.state.counters.highestAgent, 0) + 1}`;
      const made = member(id, birth);
      try {
        made.agent.context.config.create();
      } catch (error) {
        members.delete(id);
        throw error;
      }
      lived.add(id);
      return during(made, work);
    },
    async setPermission(permission, by) {
      await main.context.config.change({ permission, by });
      for (const id of new Set([...lived, ...members.keys()])) {
        const agent = find(id);
        if (agent) await agent.context.config.change({ permission, by });
        else if (readContext(log.state.context, id).config.permission !== permission) {
          log.append([internal(id, 'agent.config', { permission, ...(by ? { by } : {}) })]);
        }
      }
    },
    abortPrompt(promptId) {
      const owner = [...log.state.prompts].find(([, { used }]) => used.has(promptId))?.[0] ?? MAIN_AGENT;
      const agent = find(owner);
      // Nothing waits or runs of an agent that is not in memory.
      if (!agent) throw alreadyCompleted(promptId);
      agent.abortPrompt(promptId);
    },
    steer(promptIds) {
      const owns = ({ id }: Agent) => {
        const open = log.state.prompts.get(id)?.open;
        return promptIds.every((promptId) => open?.has(promptId));
      };
      (all().find(owns) ?? main).steer(promptIds);
    },
    idle: () => all().every((agent) => agent.idle()),
    cancelTurns() {
      for (const agent of all()) agent.cancelTurn();
    },
    async close(reason, message) {
      // All at once: each may take a while to end.
      const ends = new Map<string, Draft[]>();
      await Promise.all(all().map(async (agent) => ends.set(agent.id, await agent.close(reason, message))));
      if (log.readOnly) return [];
      const disposed = (id: string): Draft[] => [event(id, 'agent.disposed', {}, { reason })];
      const others = [...new Set([...lived, ...members.keys()])].toSorted(byNumberOfId);
      return [...(ends.get(MAIN_AGENT) ?? []), ...others.flatMap((id) => ends.get(id) ?? disposed(id))];
    },
  };
}

const numberOf = (id: string) => Number(/\d+$/.exec(id)?.[0] ?? 0);
const byNumberOfId = (a: string, b: string) => numberOf(a) - numberOf(b);
const byNumber = (a: Agent, b: Agent) => byNumberOfId(a.id, b.id);
