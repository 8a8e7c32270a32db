/** AGENTS.md files: finds those that apply to a directory and reads them. */
import { join } from 'node:path';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { directoriesDown, isInside } from '#server/files/paths.ts';
import { holdsPrivateKey, isSensitivePath } from '#server/permissions/sensitive-files.ts';
import { ignoredConfigWarning } from '#server/project-files/ignored-config.ts';
import { AGENTS_FOLDER, PROJECT_FOLDER } from '#server/project-files/places.ts';
import type { Project, Projects } from '#server/project-files/projects.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { SessionWarning } from '#schema/rest/session.ts';

/** Larger instructions are still used in full, with a warning. */
const WARN_BYTES = 32_768;
/** Larger files are refused: their text is part of every request. */
const MAX_BYTES = 1024 * 1024;
/** How long a check of a directory stays valid. */
export const INSTRUCTIONS_MAX_AGE_MS = 1000;
/** Maximum number of directories whose checks are cached. */
const MAX_REMEMBERED = 1000;

export interface Instructions {
  /** `<!-- From: path -->` blocks; empty if there are none. */
  text: string;
  paths: string[];
  warnings: SessionWarning[];
}

export interface InstructionFiles {
  /** Reads all files that apply to `cwd`, from general to specific, without truncation. */
  read(cwd: string): Promise<Instructions>;
  /** The project of a directory, from a check within `maxAgeMs`. */
  project(directory: string): Promise<Project>;
  /** The files in exactly this directory that apply to sessions in `cwd`. */
  pathsIn(directory: string, cwd: string): Promise<string[]>;
}

export interface InstructionFilesDeps {
  runtime: Pick<Runtime, 'homeDirectory' | 'readFile' | 'realpath' | 'stat'>;
  projects: Pick<Projects, 'admits' | 'find'>;
  /** The server's home; its file comes first. */
  home: string;
  /** Whether a real path is one of the server's secrets. */
  isSecret(real: string): Promise<boolean>;
  clock: Pick<Clock, 'now'>;
  /** How long a check of a directory stays valid, in ms. */
  maxAgeMs?: number;
}

/** An instruction file with its stats at the last check. `text` is read on first use. */
interface SeenFile {
  path: string;
  mtimeMs: number;
  size: number;
  /** The directory of a file that is ignored because of its owner. */
  ignoredIn?: string;
  /** A pipe, a device or a socket: opening some of them has side effects, so they are not opened. */
  special?: true;
  text?: Promise<string>;
}

const isUnchanged = (before: SeenFile, now: SeenFile) =>
  (['path', 'mtimeMs', 'size', 'ignoredIn', 'special'] as const).every((fact) => before[fact] === now[fact]);

type Reading = { path: string; text: string } | { path: string; error: string };

/** Candidates in a directory, of which only the first regular file applies. */
interface Group {
  directory: string;
  names: readonly string[];
}

/** Owner of the files: the user, whose files may be links to any path, or a project. */
interface Origin {
  /** Real paths of the files must be inside it; empty for files of the user. */
  root: string;
  /** The session's directory; empty for files of the user. */
  cwd: string;
}

const USER: Origin = { root: '', cwd: '' };

const groupsOf = (directory: string): Group[] => [
  { directory, names: [join(PROJECT_FOLDER, 'AGENTS.md')] },
  { directory, names: ['AGENTS.md', 'agents.md'] },
];

/** Memoizes `look` by key for `maxAgeMs`; it receives its previous result, and must not reject. */
function remembered<Answer>(
  look: (key: string, before: Answer | undefined) => Promise<Answer>,
  { clock, maxAgeMs = INSTRUCTIONS_MAX_AGE_MS }: Pick<InstructionFilesDeps, 'clock' | 'maxAgeMs'>,
): (key: string) => Promise<Answer> {
  /** LRU order: the most recently checked last. */
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

/** Creates the reader; a directory is checked at most once per `maxAgeMs`, a file read again only if it has changed. */
export function createInstructionFiles(deps: InstructionFilesDeps): InstructionFiles {
  const { runtime, projects, home } = deps;

  const project = remembered<Project>((directory) => projects.find(directory), deps);

  /** The file that applies or is ignored, preceded by those that are no regular files. */
  const seenFiles = remembered<readonly SeenFile[]>(async (key, before = []) => {
    const [cwd = '', , directory = '', ...names] = key.split('\0');
    const seen: SeenFile[] = [];
    for (const name of names) {
      const path = join(directory, name);
      const stats = await runtime.stat(path).catch(() => undefined);
      if (!stats || stats.isDirectory()) continue;
      const { mtimeMs, size } = stats;
      const counts = cwd === '' || (await projects.admits(directory, name, cwd));
      const file: SeenFile = {
        path,
        mtimeMs,
        size,
        ...(!counts && { ignoredIn: directory }),
        ...(!stats.isFile() && { special: true }),
      };
      seen.push(before.find((known) => isUnchanged(known, file)) ?? file);
      if (stats.isFile()) break;
    }
    return seen;
  }, deps);

  async function filesOf(groups: readonly Group[], { cwd, root }: Origin): Promise<SeenFile[]> {
    // NUL occurs in no path.
    const keys = groups.map(({ directory, names }) => [cwd, root, directory, ...names].join('\0'));
    return (await Promise.all(keys.map(seenFiles))).flat();
  }

  async function readText(path: string, { root }: Origin): Promise<string> {
    const realRoot = root === '' ? undefined : await runtime.realpath(root);
    const bytes = await runtime.readFile(path, {
      maxBytes: MAX_BYTES,
      async admit(real) {
        if (realRoot !== undefined && !isInside(real, realRoot)) throw new Error('it leads out of the project');
        if (isSensitivePath(real) || (await deps.isSecret(real))) throw new Error('it leads to a sensitive file');
      },
    });
    if (holdsPrivateKey(bytes)) throw new Error('it holds a private key');
    return Buffer.from(bytes).toString('utf8');
  }

  async function readFile(file: SeenFile, origin: Origin): Promise<Reading> {
    const { path } = file;
    if (file.special) return { path, error: `${path} is not a regular file` };
    try {
      file.text ??= readText(path, origin);
      return { path, text: await file.text };
    } catch (error) {
      delete file.text;
      return { path, error: errorMessage(error) };
    }
  }

  async function read(cwd: string): Promise<Instructions> {
    const person = join(runtime.homeDirectory(), AGENTS_FOLDER);
    const { top, passedOver } = await project(cwd);
    const root = top ?? cwd;
    const ofUser = await filesOf(
      [
        { directory: home, names: ['AGENTS.md'] },
        { directory: person, names: ['AGENTS.md', 'agents.md'] },
      ],
      USER,
    );
    const found = await filesOf(directoriesDown(root, cwd).flatMap(groupsOf), { root, cwd });
    const counting = found.filter((file) => file.ignoredIn === undefined);
    const readings = await Promise.all([
      ...ofUser.map((file) => readFile(file, USER)),
      ...counting.map((file) => readFile(file, { root, cwd })),
    ]);
    const ignored = [
      ...passedOver.map((directory) => ({ path: join(directory, '.git'), directory })),
      ...found.flatMap(({ path, ignoredIn }) => (ignoredIn === undefined ? [] : { path, directory: ignoredIn })),
    ];
    const { warnings, ...rendered } = render(readings);
    const ofOthers = ignored.map((file) => ignoredConfigWarning({ ...file, reason: 'owner' }));
    return { ...rendered, warnings: [...warnings, ...ofOthers] };
  }

  return {
    read,
    project,
    async pathsIn(directory, cwd) {
      const root = (await project(cwd)).top ?? cwd;
      const files = await filesOf(groupsOf(directory), { root, cwd });
      return files.flatMap(({ path, ignoredIn, special }) => (ignoredIn === undefined && !special ? path : []));
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
