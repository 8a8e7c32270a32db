/** AGENTS.md files: which ones apply to a directory, and what they say. */
import { dirname, join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { directoriesDown } from '#server/files/paths.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { SessionWarning } from '#schema/session.ts';

/** Instructions above this many bytes are still used whole, with a warning. */
const WARN_BYTES = 32_768;
/** How long what was seen in a place is taken for true. */
export const INSTRUCTIONS_MAX_AGE_MS = 1000;
/** Places whose last sight is kept. */
const MAX_REMEMBERED = 1000;

export interface Instructions {
  /** `<!-- From: path -->` blocks, empty when there are none. */
  text: string;
  paths: string[];
  warnings: SessionWarning[];
}

export interface InstructionFiles {
  /** Everything that applies to `cwd`, in order of generality; nothing is cut. */
  read(cwd: string): Promise<Instructions>;
  /** Root of the git work tree that holds the directory, if any. */
  gitRoot(directory: string): Promise<string | undefined>;
  /** The files of this one directory. */
  pathsIn(directory: string): Promise<string[]>;
}

export interface InstructionFilesDeps {
  runtime: Pick<Runtime, 'homeDirectory' | 'readFile' | 'stat'>;
  /** The server's home, whose own file comes first. */
  home: string;
  clock: Pick<Clock, 'now'>;
  /** How long a place is not looked at again, in ms. */
  maxAgeMs?: number;
}

/** An instruction file as last seen. `text` is read when it is first asked for. */
interface SeenFile {
  path: string;
  mtimeMs: number;
  size: number;
  text?: Promise<string>;
}

type Reading = { path: string; text: string } | { path: string; error: string };

/** Of the files in a group only the first that exists counts. */
type Group = readonly string[];
const groupsOf = (directory: string): Group[] => [
  [join(directory, '.service-code', 'AGENTS.md')],
  [join(directory, 'AGENTS.md'), join(directory, 'agents.md')],
];

/** A `look` whose answer holds for `maxAgeMs`; it is handed its answer before. It must not reject. */
function remembered<Answer>(
  look: (key: string, before: Answer | undefined) => Promise<Answer>,
  { clock, maxAgeMs = INSTRUCTIONS_MAX_AGE_MS }: Pick<InstructionFilesDeps, 'clock' | 'maxAgeMs'>,
): (key: string) => Promise<Answer> {
  /** The one looked at last stands at the end. */
  const answers = new Map<string, { at: number; answer: Promise<Answer> }>();
  return (key) => {
    const known = answers.get(key);
    const at = clock.now();
    if (known && at - known.at < maxAgeMs) return known.answer;
    const answer = (known?.answer ?? Promise.resolve(undefined)).then((before) => look(key, before));
    answers.delete(key);
    answers.set(key, { at, answer });
    const [oldest] = answers.keys();
    if (answers.size > MAX_REMEMBERED && oldest !== undefined) answers.delete(oldest);
    return answer;
  };
}

/** Looks at the files; a place is looked at once in `maxAgeMs`, and a file read again only when it has changed. */
export function createInstructionFiles(deps: InstructionFilesDeps): InstructionFiles {
  const { runtime, home } = deps;
  const statOf = (path: string) => runtime.stat(path).catch(() => undefined);

  const holdsGit = remembered<boolean>(
    async (directory) => (await statOf(join(directory, '.git'))) !== undefined,
    deps,
  );

  // The key is the group's paths: NUL stands in none.
  const seenFile = remembered<SeenFile | undefined>(async (key, before) => {
    for (const path of key.split('\0')) {
      const stats = await statOf(path);
      if (!stats?.isFile()) continue;
      const { mtimeMs, size } = stats;
      const same = before?.path === path && before.mtimeMs === mtimeMs && before.size === size;
      return same ? before : { path, mtimeMs, size };
    }
    return undefined;
  }, deps);

  async function filesOf(groups: readonly Group[]): Promise<SeenFile[]> {
    const files = await Promise.all(groups.map((group) => seenFile(group.join('\0'))));
    return files.flatMap((file) => file ?? []);
  }

  async function readFile(file: SeenFile): Promise<Reading> {
    try {
      file.text ??= runtime.readFile(file.path).then((bytes) => Buffer.from(bytes).toString('utf8'));
      return { path: file.path, text: await file.text };
    } catch (error) {
      delete file.text;
      return { path: file.path, error: errorMessage(error) };
    }
  }

  async function gitRoot(directory: string): Promise<string | undefined> {
    for (let current = directory; ; current = dirname(current)) {
      if (await holdsGit(current)) return current;
      if (dirname(current) === current) return undefined;
    }
  }

  return {
    gitRoot,
    pathsIn: async (directory) => (await filesOf(groupsOf(directory))).map(({ path }) => path),
    async read(cwd) {
      const person = join(runtime.homeDirectory(), '.agents');
      const files = await filesOf([
        [join(home, 'AGENTS.md')],
        [join(person, 'AGENTS.md'), join(person, 'agents.md')],
        ...directoriesDown((await gitRoot(cwd)) ?? cwd, cwd).flatMap(groupsOf),
      ]);
      return render(await Promise.all(files.map(readFile)));
    },
  };
}

function render(readings: readonly Reading[]): Instructions {
  const blocks = new Map<string, string>();
  const problems: string[] = [];
  for (const reading of readings) {
    if ('error' in reading) problems.push(`${reading.path} could not be read: ${reading.error}`);
    else if (reading.text.trim() !== '') blocks.set(reading.path, reading.text);
  }
  const bytes = [...blocks.values()].reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (bytes > WARN_BYTES) {
    problems.unshift(
      `The agent instruction files hold ${bytes} bytes, more than the advised ${WARN_BYTES}: ${[...blocks.keys()].join(', ')}.`,
    );
  }
  return {
    text: [...blocks].map(([path, text]) => `<!-- From: ${path} -->\n${text}`).join('\n\n'),
    paths: [...blocks.keys()],
    warnings: problems.length
      ? [{ code: 'agents-md-oversized', message: problems.join(' '), severity: 'warning' }]
      : [],
  };
}
