/** A call's command line: its parsed form, and the directory its commands run in. */
import { isAbsolute, resolve } from 'node:path';
import { isInWorkspace } from '#server/runtime/path-policy.ts';
import type { RuleSubject, ToolEnvironment } from '#server/tools/tool.ts';
import type { CommandLineReader, CommandReading } from './command-line/command-line-reader.ts';
import { writesOutput } from './git-output.ts';
import { once } from '#server/memo/once.ts';

export interface CommandDirectory {
  /** Links resolved. */
  path: string;
  /** In the working directory or an additional one. */
  inWorkspace: boolean;
  /** Whether the line changes to a directory that cannot be determined, so that no command's directory is certain. */
  lost: boolean;
}

export interface CommandCall {
  line: string;
  reading(): Promise<CommandReading>;
  /** Returns the directory of the commands: the call's, or that of a `cd` at the start of the line. */
  directory(): Promise<CommandDirectory>;
  /** Whether one of the commands is git, by its base name, also after wrappers such as `timeout`. */
  runsGit(): Promise<boolean>;
  /** Whether a git command has an option that makes git write a file. */
  gitWritesOutput(): Promise<boolean>;
  /** Whether the directory resolves differently now than when `directory` was first called. */
  moved(): Promise<boolean>;
}

export interface CommandSurroundings {
  places: Pick<ToolEnvironment, 'runtime' | 'cwd' | 'additionalDirs'>;
  reader: CommandLineReader;
}

/**
 * Whether the shell decodes each character beyond ASCII as we do. In GBK or Shift JIS the second byte of a character
 * may be a backslash or quote.
 */
function readsAlike(line: string, { LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /^[\0-\x7f]*$/.test(line) || /^(C|POSIX)$|utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || 'C');
}

/** Cheap pre-check: a line that runs git contains the name, possibly with quotes in it. */
const mayRunGit = (line: string) => line.replace(/['"\\\n]/g, '').includes('git');

/** Creates a lazily parsed command call: the first rule that needs the reading loads the reader. */
export function createCommandCall(
  line: string,
  subject: Pick<RuleSubject, 'directory'>,
  { places, reader }: CommandSurroundings,
): CommandCall {
  const { runtime } = places;
  const start = subject.directory ?? places.cwd;
  const reading = once(async () => {
    const read = await reader.read(line);
    return readsAlike(line, runtime.environment()) ? read : { ...read, plain: false, commands: [], cd: undefined };
  });

  /** Undefined when the shell may change to another directory, or when the directory is outside the workspace. */
  async function follow(directory: string): Promise<string | undefined> {
    if (/^[~-]/.test(directory)) return undefined;
    // The shell tries the directories of CDPATH first for a plain name.
    if (runtime.environment().CDPATH && !isAbsolute(directory) && !/^\.\.?(\/|$)/.test(directory)) return undefined;
    const real = await runtime.realpath(resolve(start, directory)).catch(() => undefined);
    if (real === undefined || !(await isInWorkspace(real, places))) return undefined;
    // The shell resolves `link/..` logically, to the directory of the link; if that fails, physically, by the target.
    const linked = isAbsolute(directory) ? directory : `${start}/${directory}`;
    return (await runtime.realpath(linked).catch(() => undefined)) === real ? real : undefined;
  }

  async function locate(): Promise<CommandDirectory> {
    const real = await runtime.realpath(start);
    const here = { path: real, inWorkspace: await isInWorkspace(real, places), lost: false };
    if (!line.includes('cd')) return here;
    const { cd } = await reading();
    if (cd === undefined) return here;
    const target = await follow(cd);
    return target === undefined ? { ...here, lost: true } : { path: target, inWorkspace: true, lost: false };
  }

  let located: Promise<CommandDirectory> | undefined;

  const gitCommands = once(async () => {
    if (!mayRunGit(line)) return [];
    return (await reading()).guarded.filter((text) => /^git(?:\s|$)/.test(text));
  });

  return {
    line,
    reading,
    runsGit: async () => (await gitCommands()).length > 0,
    async gitWritesOutput() {
      const { commands } = await reading();
      // The whole line is among the texts, with the words of all its commands.
      return (await gitCommands()).some((text) => (text !== line || commands.length <= 1) && writesOutput(text));
    },
    directory: () => (located ??= locate()),
    async moved() {
      if (!located) return false;
      const [before, now] = await Promise.all([located, locate()]);
      return now.path !== before.path || now.lost !== before.lost;
    },
  };
}
