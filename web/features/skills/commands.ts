/** Commands of the page in the list of slash commands. */
import { t } from '../../messages/messages.ts';
import type { Candidate, Command } from '../feature.ts';

export interface CommandCandidate extends Candidate {
  title: string;
  command: Command;
}

/** The commands whose title or id contains the query, in their order. */
export function matchingCommands(commands: readonly Command[], query: string): CommandCandidate[] {
  const wanted = query.toLowerCase();
  return commands.flatMap((command) => {
    const title = typeof command.title === 'function' ? command.title() : t(command.title);
    if (!`${title}\n${command.id}`.toLowerCase().includes(wanted)) return [];
    return { key: `command ${command.id}`, insertion: { text: '', isOpen: true }, title, command };
  });
}
