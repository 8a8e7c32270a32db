/** The commands by name. The code of a command is loaded when it is named. */
import type { Command } from './command.ts';
import { start } from './start.ts';

const loaders: Record<string, () => Promise<Command>> = {
  'rotate-token': async () => (await import('./rotate-token.ts')).rotateToken,
  acp: async () => (await import('./acp.ts')).acp,
  run: async () => (await import('./run.ts')).run,
};

/** The named command and its arguments; without a name the start of a server. */
export async function commandOf(argv: string[]): Promise<{ command: Command; argv: string[] }> {
  const [name = '', ...rest] = argv;
  const load = Object.hasOwn(loaders, name) ? loaders[name] : undefined;
  return load ? { command: await load(), argv: rest } : { command: start, argv };
}

/** Whether the arguments request a help text: an argument after `--` does not. */
export function requestsHelp(argv: string[]): boolean {
  const end = argv.indexOf('--');
  return (end === -1 ? argv : argv.slice(0, end)).some((text) => text === '--help' || text === '-h');
}
