/** Instruction files that are found while an agent works; a reminder at its next step lists them. */
import { resolve } from 'node:path';
import type { PreparedCall } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { AgentContext } from '../contract/context.ts';
import { reminder } from '../prompt/reminders.ts';

export interface FoundInstructions {
  /** Searches the directories that a call works in; returns the files that were not reported yet. */
  near(call: PreparedCall): Promise<string[]>;
  /** Reminders of the files found since the last step. */
  reminders(): ContextMessage[];
}

/** Creates the finder of one agent. */
export function createFoundInstructions({ session, state, config }: AgentContext): FoundInstructions {
  let unannounced: string[] = [];
  return {
    async near({ display, accesses }) {
      const { cwd, services } = session;
      const command =
        display?.kind === 'command' ? { line: display.command, cwd: resolve(cwd, display.cwd ?? '.') } : undefined;
      const known = new Set([...state().agentsMd, ...(await config.shownInstructions())]);
      const found = await services.nestedInstructions({ accesses, command, cwd }, known);
      // Concurrent calls may find the same file; only the first reports it.
      const fresh = found.filter((path) => !unannounced.includes(path));
      unannounced.push(...fresh);
      return fresh;
    },
    reminders() {
      if (unannounced.length === 0) return [];
      const files = unannounced.join('\n');
      unannounced = [];
      const text = `These instruction files apply to the directories you just worked in; read them before you go on there:\n${files}`;
      return [reminder('agents_md', text)];
    },
  };
}
