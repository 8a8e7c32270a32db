/** Tokens used, per agent. Undo, compaction and fork do not reduce the sums. */
import type { TokenUsage } from '#schema/engine.ts';
import type { Projection } from './projection.ts';

export interface AgentUsage {
  total: TokenUsage;
  byModel: Record<string, TokenUsage>;
  /** Since the agent's last `turn.started`; meaningful while that turn runs. */
  currentTurn: TokenUsage;
}

/** Usage by agent id; an agent without requests has no entry. */
export type UsageState = Map<string, AgentUsage>;

export const noUsage = (): TokenUsage => ({ inputOther: 0, output: 0, inputCacheRead: 0, inputCacheCreation: 0 });

function add(sum: TokenUsage, usage: TokenUsage): void {
  sum.inputOther += usage.inputOther;
  sum.output += usage.output;
  sum.inputCacheRead += usage.inputCacheRead;
  sum.inputCacheCreation += usage.inputCacheCreation;
}

function book(state: UsageState, agent: string, model: string, usage: TokenUsage, ofTurn: boolean): void {
  let own = state.get(agent);
  if (!own) state.set(agent, (own = { total: noUsage(), byModel: {}, currentTurn: noUsage() }));
  add(own.total, usage);
  add((own.byModel[model] ??= noUsage()), usage);
  if (ofTurn) add(own.currentTurn, usage);
}

export const usageProjection: Projection<UsageState> = {
  initial: () => new Map(),
  apply(state, record) {
    switch (record.type) {
      case 'turn.started': {
        const own = state.get(record.agent);
        if (own) own.currentTurn = noUsage();
        break;
      }
      case 'step.response':
        if (record.usage) book(state, record.agent, record.model, record.usage, true);
        break;
      case 'usage.recorded':
        book(state, record.agent, record.model, record.usage, record.scope === 'turn');
        break;
    }
  },
};
