/** The skeleton of a command; `commands.ts` lists them. */
import type { App } from '#server/app/app.ts';
import type { Served } from '#server/cli/start.ts';
import type { StartOptions } from '#server/cli/options.ts';

/** The parts of the built program that commands use. */
export interface Program {
  /** Home directory, absolute. */
  home: string;
  /** Creates the app and its HTTP server, which does not listen yet. */
  open(options: StartOptions): Promise<{ app: App; served: Served }>;
}

export interface Command {
  /** The text of `--help`. */
  help(): Promise<string>;
  /** Resolves to the exit code. `argv`: the arguments after the name. Throws `StartError` for invalid ones. */
  run(argv: string[], program: Program): Promise<number>;
}
