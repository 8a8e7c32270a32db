/** Instruction files that an agent comes across in its work, told at its next step. */
import { resolve } from 'node:path';
import type { PreparedCall } from '#server/tools/tool.ts';
import type { ContextMessage } from '#schema/engine.ts';
import type { AgentContext } from '../context.ts';
import { reminder } from '../prompt/reminders.ts';

export interface FoundInstructions {
  /** Looks near what a call works on; returns the files that nobody has named yet. */
  near(call: PreparedCall): Promise<string[]>;
  /** Tells of those found since the last time. */
  reminders(): ContextMessage[];
}

/** Knows of no file yet. */
export function createFoundInstructions({ session, state, config }: AgentContext): FoundInstructions {
  let untold: string[] = [];
  return {
    async near({ display, accesses }) {
      const { cwd, services } = session;
      const command =
        display?.kind === 'command' ? { line: display.command, cwd: resolve(cwd, display.cwd ?? '.') } : undefined;
      const known = new Set([...state().agentsMd, ...(await config.shownInstructions())]);
      const found = await services.nestedInstructions({ accesses, command, cwd }, known);
      // Calls that run side by side may find the same file; the first names it.
      const fresh = found.filter((path) => !untold.includes(path));
      untold.push(...fresh);
      return fresh;
    },
    reminders() {
      if (untold.length === 0) return [];
      const files = untold.join('\n');
      untold = [];
      const text = `These instruction files apply to the directories you just worked in; read them before you go on there:\n${files}`;
      return [reminder('agents_md', text)];
    },
  };
}
