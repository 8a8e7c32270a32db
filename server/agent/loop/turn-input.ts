/** Records of input that enters an agent's context from outside. */
import { entering, type Draft } from '#server/journal/records.ts';
import type { TurnInput } from '../contract/context.ts';

/** The records with which these inputs enter the agent's context, each separately. */
export const inputDrafts = (agentId: string, inputs: TurnInput[], enters: 'turn' | 'step'): Draft[] =>
  inputs.flatMap(({ before = [], messages, attachments = [], after = [] }) => {
    // The attachments of input that opens a turn are part of `turn.started`.
    const brought = enters === 'step' && attachments.length > 0 ? { attachments } : {};
    const entered = messages.length > 0 ? [entering(agentId, messages, { cause: 'input', enters, ...brought })] : [];
    return [...before, ...entered, ...after];
  });
