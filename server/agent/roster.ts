/** The agents of a loaded session; main is the first. */
import { MAIN_AGENT } from '#schema/agents.ts';
import type { Draft } from '#server/journal/records.ts';
import { agentNotFound, createAgent, type Agent } from './agent.ts';
import type { SessionContext } from './context.ts';

export interface Roster {
  readonly main: Agent;
  /** Oldest first. */
  all(): Agent[];
  /** Throws 40401. */
  get(id: string): Agent;
  /** Aborts a prompt of whichever agent has it, main first. Throws 40402, 40903, 50003. */
  abortPrompt(promptId: string): void;
  /** Steers prompts of whichever agent has them all. Throws 40402, 50003. */
  steer(promptIds: readonly string[]): void;
  /** No turn runs and no prompt waits. */
  idle(): boolean;
  /** Cancels every running turn. */
  cancelTurns(): void;
  /** Ends all agents, main first; returns the records of their ends, for the journal's last line. */
  close(reason: 'closed' | 'archived' | 'evicted', message: string): Promise<Draft[]>;
}

/** Creates the roster over a loaded journal; appends nothing. */
export function createRoster(session: SessionContext): Roster {
  const main = createAgent(session, MAIN_AGENT);
  const agents = new Map<string, Agent>([[main.id, main]]);
  const all = () => [...agents.values()];

  return {
    main,
    all,
    get(id) {
      const agent = agents.get(id);
      if (!agent) throw agentNotFound(id);
      return agent;
    },
    abortPrompt(promptId) {
      const owner = all().find((agent) => session.log.state.prompts.get(agent.id)?.used.has(promptId));
      (owner ?? main).abortPrompt(promptId);
    },
    steer(promptIds) {
      const has = ({ id }: Agent) => {
        const open = session.log.state.prompts.get(id)?.open;
        return promptIds.every((promptId) => open?.has(promptId));
      };
      (all().find(has) ?? main).steer(promptIds);
    },
    idle: () => all().every((agent) => agent.idle()),
    cancelTurns() {
      for (const agent of all()) agent.cancelTurn();
    },
    async close(reason, message) {
      const drafts: Draft[] = [];
      for (const agent of all()) drafts.push(...(await agent.close(reason, message)));
      return drafts;
    },
  };
}
