/** The text with which a skill or a command has entered the conversation. */
import type { Message } from '@service-code/client';
import { isSameName } from './skills.ts';

/** The first text part of a message. */
const textOf = ({ content }: Message) =>
  content.map((part) => (part.type === 'text' ? part.text : '')).find((text) => text !== '');

/**
 * The text of an activation by a person; undefined if it is not among the messages. Empty for a skill that was sent with
 * a prompt, whose message omits it.
 */
export function textOfActivation(messages: readonly Message[], activationId: string): string | undefined {
  for (const message of messages) {
    const origin = message.metadata?.origin;
    if (origin && 'activationId' in origin && origin.activationId === activationId) return textOf(message) ?? '';
    if (origin?.kind === 'user' && origin.skillActivations?.some((one) => one.activationId === activationId)) return '';
  }
  return undefined;
}

/**
 * The text that a call of Skill has loaded: it follows the result, before the next response. Undefined if the result is
 * not among the messages, which are ordered from the newest; empty if the call has loaded no text.
 */
export function textOfCall(
  messages: readonly Message[],
  call: { id: string; name: string; args: string | undefined },
): string | undefined {
  const result = messages.findIndex(({ content }) =>
    content.some((part) => part.type === 'tool_result' && part.tool_call_id === call.id),
  );
  if (result === -1) return undefined;
  for (const message of messages.slice(0, result).toReversed()) {
    if (message.role === 'assistant') return '';
    const origin = message.metadata?.origin;
    if (origin?.kind !== 'skill_activation' || origin.trigger === 'user-slash') continue;
    if (isSameName(origin.skillName, call.name) && origin.skillArgs === call.args) return textOf(message) ?? '';
  }
  return '';
}
