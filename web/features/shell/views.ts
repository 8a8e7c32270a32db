/** View of a command. */
import { firstLine, textOf, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';

export type CommandBody = { kind: 'command'; command: string };

function run(command: string, cwd: string | undefined): ToolSummary {
  const body: CommandBody = { kind: 'command', command };
  return { verb: 'Run', subject: firstLine(command), cwd, body, opens: 'while running' };
}

export const shellViews: ToolViews = {
  tools: { Bash: (args) => run(textOf(args, 'command'), textOf(args, 'cwd') || undefined) },
  displays: { command: ({ command, cwd }) => run(command, cwd) },
};
