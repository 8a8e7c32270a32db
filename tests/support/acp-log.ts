/** Updates of a bridge as a readable log, in which nothing depends on time: chunks and the states of a call are joined. */
import type { SessionUpdate } from '@agentclientprotocol/sdk';

/** `names` replaces texts that differ from run to run. */
export function logOf(
  updates: readonly SessionUpdate[],
  names: readonly (readonly [RegExp | string, string])[],
): string {
  const entries: { key: string; value: Record<string, unknown> }[] = [];
  const entry = (key: string) => {
    const found = entries.find((one) => one.key === key);
    if (found) return found.value;
    const value: Record<string, unknown> = {};
    entries.push({ key, value });
    return value;
  };
  /** Updates that may arrive earlier or later between the others. */
  const asides = new Map<string, { key: string; value: Record<string, unknown> }>();
  const aside = (key: string, state: string[]) => {
    const value = asides.get(key)?.value ?? {};
    asides.set(key, { key, value: { ...value, [Object.keys(value).length + 1]: state } });
  };
  for (const update of updates) {
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const value = entry(`${update.sessionUpdate} ${update.messageId}`);
        const text = update.content.type === 'text' ? update.content.text : `[${update.content.type}]`;
        value['text'] = `${String(value['text'] ?? '')}${text}`;
        break;
      }
      case 'tool_call':
      case 'tool_call_update': {
        const { sessionUpdate: _, toolCallId, ...members } = update;
        Object.assign(entry(`tool_call ${toolCallId}`), members);
        break;
      }
      case 'plan':
        aside(
          update.sessionUpdate,
          update.entries.map(({ content, status }) => `${content}: ${status}`),
        );
        break;
      case 'config_option_update':
        aside(
          update.sessionUpdate,
          update.configOptions.map(({ id, currentValue }) => `${id}: ${currentValue}`),
        );
        break;
      case 'available_commands_update':
        aside(
          update.sessionUpdate,
          update.availableCommands.map(({ name }) => name),
        );
        break;
      case 'current_mode_update':
        aside(update.sessionUpdate, [update.currentModeId]);
        break;
      case 'session_info_update':
        aside(update.sessionUpdate, [update.title ?? '']);
    }
  }
  entries.push(...[...asides.values()].toSorted((one, other) => one.key.localeCompare(other.key)));
  let log = entries.map(({ key, value }) => `${key}\n${JSON.stringify(value, null, 2)}\n`).join('\n');
  for (const [found, name] of names) log = log.replaceAll(found, name);
  return log;
}
