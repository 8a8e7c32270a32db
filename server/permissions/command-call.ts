/** A call's command line: how it reads, and the directory its commands run in. */
import { isAbsolute, resolve } from 'node:path';
import { isInWorkspace } from '#server/files/paths.ts';
import type { RuleSubject, ToolEnvironment } from '#server/tools/tool.ts';
import type { CommandLineReader, CommandReading } from './command-line/command-line-reader.ts';
import { writesOutput } from './git-output.ts';
import { once } from './once.ts';

export interface CommandDirectory {
  /** Links resolved. */
  path: string;
  /** In the working directory or an additional one. */
  inWorkspace: boolean;
  /** The line changes to a directory that rules do not follow: no command of it is certain to be where it seems. */
  lost: boolean;
}

export interface CommandCall {
  line: string;
  reading(): Promise<CommandReading>;
  /** Where the commands run: the call's directory, or that of a `cd` at the head of the line. */
  directory(): Promise<CommandDirectory>;
  /** Whether one of its commands is git, by its base name, also after wrappers such as `timeout`. */
  runsGit(): Promise<boolean>;
  /** Whether one of them has an option with which git writes a file. */
  gitWritesOutput(): Promise<boolean>;
  /** Whether that `cd` leads elsewhere by now than it did when the directory was asked for. */
  moved(): Promise<boolean>;
}

export interface CommandSurroundings {
  places: Pick<ToolEnvironment, 'runtime' | 'cwd' | 'additionalDirs'>;
  reader: CommandLineReader;
}

/**
 * Whether the shell reads each character beyond ASCII as we do. In GBK or Shift JIS the last byte of one takes the
 * backslash or quote behind it for its own other half.
 */
function readsAlike(line: string, { LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /^[\0-\x7f]*$/.test(line) || /^(C|POSIX)$|utf-?8/i.test(LC_ALL || LC_CTYPE || LANG || 'C');
}

/** No other line runs git; one that does may spell the name with quotes. */
const mayRunGit = (line: string) => line.replace(/['"\\\n]/g, '').includes('git');

/** Nothing is read before it is asked for: the reader is loaded by the first rule that needs it. */
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

  /** Undefined when the shell may go elsewhere than it says, or where rules do not follow. */
  async function follow(directory: string): Promise<string | undefined> {
    if (/^[~-]/.test(directory)) return undefined;
    // The shell looks for a plain name in the directories of CDPATH first.
    if (runtime.environment().CDPATH && !isAbsolute(directory) && !/^\.\.?(\/|$)/.test(directory)) return undefined;
    const real = await runtime.realpath(resolve(start, directory)).catch(() => undefined);
    if (real === undefined || !(await isInWorkspace(real, places))) return undefined;
    // The shell takes `link/..` back to where the link is, and when there is nothing there to where the link leads.
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
