/** View of a command. */
import { t } from '../../messages/messages.ts';
import { firstLine, textOf, type DrawnCall, type ToolSummary, type ToolViews } from '../../render/tool-view.ts';
import { outputText } from '../../state/tool-call.ts';

/** The last lines of a result report how the command has ended. */
const TAIL_CHARS = 500;

export type CommandBody = { kind: 'command'; command: string };

function run(command: string, cwd: string | undefined): ToolSummary {
  const body: CommandBody = { kind: 'command', command };
  return { verb: t('tools.run'), subject: firstLine(command), cwd, body, opens: 'while running' };
}

/** The exit code that a result reports: of a command that has failed. */
function outcomeOf({ output, state }: DrawnCall): string | undefined {
  if (output === undefined || (state !== 'failed' && state !== 'done')) return undefined;
  const [, code] = /(?:^|\n)Exit code: (-?\d+)/.exec(outputText(output).slice(-TAIL_CHARS)) ?? [];
  return code === undefined ? undefined : t('conversation.exitCode', { code: Number(code) });
}

export const shellViews: ToolViews = {
  tools: {
    Bash: (args, call) => ({
      ...run(textOf(args, 'command'), textOf(args, 'cwd') || undefined),
      outcome: outcomeOf(call),
    }),
  },
  displays: { command: ({ command, cwd }) => run(command, cwd) },
};
