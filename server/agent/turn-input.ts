/** What enters an agent's context from outside, as records. */
import { entering, type Draft } from '#server/journal/records.ts';
import type { TurnInput } from './context.ts';

/** The records that let these enter the agent's context, each on its own. */
export const inputDrafts = (agentId: string, inputs: TurnInput[], enters: 'turn' | 'step'): Draft[] =>
  inputs.flatMap(({ before = [], messages, attachments = [], after = [] }) => {
    // Those of what opens a turn stand in its `turn.started`.
    const brought = enters === 'step' && attachments.length > 0 ? { attachments } : {};
    const entered = messages.length > 0 ? [entering(agentId, messages, { cause: 'input', enters, ...brought })] : [];
    return [...before, ...entered, ...after];
  });
