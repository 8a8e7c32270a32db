/** Prompts and their ids, per agent. */
import type { ContentPart } from '#schema/rest/content.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';
import type { Stored } from '../texts.ts';
import type { Projection } from './projection.ts';

export interface OpenPrompt {
  promptId: string;
  content: Stored<ContentPart>[];
  createdAt: string;
  /** Absent for a prompt of a user. */
  origin?: Origin;
  /** `steered` settles with the active prompt. */
  state: 'accepted' | 'queued' | 'active' | 'steered';
}

export interface AgentPrompts {
  /** Ids ever accepted; undo, compaction and fork release none. An id that is not in `open` is settled. */
  used: Set<string>;
  /** Accepted and not settled, in the order of acceptance. */
  open: Map<string, OpenPrompt>;
  /** Id of the running turn's prompt; a subagent's instruction has one too, without being in `open`. */
  active: string | undefined;
  /** Messages of steered prompts that no step has included yet, each after its reminders. */
  entering: Stored<ContextMessage>[];
}

/** Prompts by agent id. */
export type PromptsState = Map<string, AgentPrompts>;

function promptsOf(state: PromptsState, agent: string): AgentPrompts {
  let own = state.get(agent);
  if (!own) state.set(agent, (own = { used: new Set(), open: new Map(), active: undefined, entering: [] }));
  return own;
}

function activate(own: AgentPrompts, promptId: string): void {
  own.used.add(promptId);
  own.active = promptId;
  const prompt = own.open.get(promptId);
  if (prompt) prompt.state = 'active';
}

function settle(own: AgentPrompts, promptId: string): void {
  own.open.delete(promptId);
  if (own.active !== promptId) return;
  own.active = undefined;
  for (const [id, prompt] of own.open) if (prompt.state === 'steered') own.open.delete(id);
}

export const promptsProjection: Projection<PromptsState> = {
  initial: () => new Map(),
  apply(state, record) {
    switch (record.type) {
      case 'prompt.submitted': {
        const { promptId, content, createdAt, x } = record;
        const own = promptsOf(state, record.agent);
        own.used.add(promptId);
        const origin = x?.origin ? { origin: x.origin } : {};
        own.open.set(promptId, { promptId, content, createdAt, state: 'accepted', ...origin });
        break;
      }
      case 'prompt.queued': {
        const prompt = promptsOf(state, record.agent).open.get(record.promptId);
        if (prompt) prompt.state = 'queued';
        break;
      }
      case 'turn.started':
        if (record.promptId !== undefined) activate(promptsOf(state, record.agent), record.promptId);
        break;
      case 'prompt.steered': {
        const own = promptsOf(state, record.agent);
        for (const id of record.promptIds) {
          const prompt = own.open.get(id);
          if (prompt) prompt.state = 'steered';
        }
        if (own.active === undefined) activate(own, record.activePromptId);
        if (record.x) own.entering.push(...(record.x.reminders ?? []), record.x.message);
        break;
      }
      case 'context.spliced': {
        const own = state.get(record.agent);
        if (!own || own.entering.length === 0) break;
        const entered = new Set(record.messages.map(({ id }) => id));
        own.entering = own.entering.filter(({ id, origin }) =>
          origin?.kind === 'injection' ? !entered.has(origin.ownerPromptId) : !entered.has(id),
        );
        break;
      }
      case 'prompt.completed':
      case 'prompt.aborted':
        settle(promptsOf(state, record.agent), record.promptId);
        break;
      case 'forked':
        for (const own of state.values()) {
          own.open.clear();
          own.active = undefined;
        }
        break;
    }
  },
};
