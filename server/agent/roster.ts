/** The agents of a loaded session, main first. Idle agents are evicted from memory and restored from the journal. */
import { readContext } from '#server/journal/projections/context.ts';
import { event, internal, type Draft } from '#server/journal/records.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { agentNotFound, createAgent } from './agent.ts';
import type { SessionContext } from './contract/context.ts';
import { alreadyCompleted } from './scheduling/prompt-queue.ts';
import type { AgentBirth } from './contract/config.ts';
import type { Agent, Roster } from './contract/agent.ts';

/** Idle agents other than main that stay in memory: an agent that was used is often used again soon. */
const KEPT_IDLE = 4;

interface Member {
  agent: Agent;
  /** Reference count: running operations that need the agent. */
  users: number;
}

/** Creates the roster over a loaded journal; appends nothing. */
export function createRoster(session: SessionContext): Roster {
  const { log } = session;
  const main = createAgent(session, MAIN_AGENT);
  /** Agents other than main, the least recently used first. */
  const members = new Map<string, Member>();
  /** Agents whose creation this process has recorded, in that order. */
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

  /** Evicts unreferenced idle agents, except the most recently used. */
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
      // Numbers start at 1; the record of the creation advances the counter.
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
    async replaceModel(from, to) {
      for (const id of new Set([MAIN_AGENT, ...lived, ...members.keys()])) {
        if (readContext(log.state.context, id).config.model !== from) continue;
        const change = ({ context }: Agent) => context.config.change({ model: to });
        await (id === MAIN_AGENT ? change(main) : during(member(id), change));
      }
    },
    abortPrompt(promptId) {
      const owner = [...log.state.prompts].find(([, { used }]) => used.has(promptId))?.[0] ?? MAIN_AGENT;
      const agent = find(owner);
      // An agent that is not in memory has no waiting or running prompt.
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
      // Concurrently: each agent may take a while to close.
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
