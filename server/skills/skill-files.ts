/** Finds the skill files of a root and reads those that have changed. */
import { basename } from 'node:path';
import type { SessionWarning } from '#schema/rest/session.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import { createSemaphore } from '#server/async/semaphore.ts';
import { createTimeSlice } from '#server/async/yield.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import {
  isUnchanged,
  readMarkdownFile,
  seenFile,
  type FolderFiles,
  type MarkdownFolder,
  type SeenFile,
} from '#server/files/markdown-files.ts';
import { findMarkdownFiles, type FolderLimits } from '#server/files/markdown-folders.ts';
import { parseFlatSkill, parseSkillFolder, type SkillFile } from './skill-file.ts';

const SKILL_FILE = 'SKILL.md';
/** Whether a file describes the skill of its folder. */
export const isSkillFile = (path: string): boolean => basename(path) === SKILL_FILE;
const CONCURRENT_READS = 16;

/** Limits for one root with its subfolders; they also apply to the command folders of plugins. */
export const SKILL_LIMITS: FolderLimits = {
  depth: 8,
  files: 2000,
  directories: 4000,
  bytesPerFile: 256 * 1024,
  // The texts stay in memory.
  bytes: 32 * 1024 * 1024,
  linkedDirectories: true,
};

/** Result of reading a file. It stays the same object while the file is unchanged. */
export type Reading = SeenFile & ({ file: SkillFile } | { warning: SessionWarning });

export interface RootReadings {
  exists: boolean;
  /** In path order. */
  readings: Reading[];
  /** True if a limit omitted files or folders. */
  isCut: boolean;
}

export interface SkillFiles {
  read(root: MarkdownFolder): Promise<RootReadings>;
  /** Drops cached results that none of the passed readings uses. */
  prune(used: () => Iterable<Reading>): void;
}

export const skillWarning = (message: string): SessionWarning => ({
  code: 'skill-invalid',
  message,
  severity: 'warning',
});

/** Number of cached results up to which none is dropped. */
const MIN_PRUNED = 1000;

/** A directory with a SKILL.md is a skill; other files are skills only directly in the root. */
function chooseFiles(names: readonly string[], isRoot: boolean): readonly string[] {
  if (names.includes(SKILL_FILE)) return [SKILL_FILE];
  return isRoot ? names : [];
}

/** Creates the reader with an empty cache, which all directories share. */
export function createSkillFiles(files: FolderFiles): SkillFiles {
  const cache = new Map<string, Reading>();
  let pruneAt = MIN_PRUNED;
  const parsing = createSemaphore(1);
  const slice = createTimeSlice();

  async function parsed(path: string, source: string): Promise<SkillFile> {
    // Several reads may complete in one turn of the event loop.
    if (slice.due()) await slice.rest();
    const name = basename(path);
    return name === SKILL_FILE ? parseSkillFolder(source) : parseFlatSkill(source, basename(name, '.md'));
  }

  async function readNow(seen: SeenFile, boundary: Omit<MarkdownFolder, 'path'>): Promise<Reading> {
    try {
      const source = await readMarkdownFile(seen.path, { ...boundary, maxBytes: SKILL_LIMITS.bytesPerFile }, files);
      return { ...seen, file: await parsing.run(() => parsed(seen.path, source)) };
    } catch (error) {
      return { ...seen, warning: skillWarning(`The skill ${seen.path} is not used: ${errorMessage(error)}.`) };
    }
  }

  async function readOnce(seen: SeenFile, boundary: Omit<MarkdownFolder, 'path'>): Promise<Reading> {
    // Whether a file may be read depends on the boundary.
    const key = `${boundary.within ?? ''}\0${seen.path}`;
    const known = cache.get(key);
    if (known && isUnchanged(seen, known)) return known;
    const reading = await readNow(seen, boundary);
    cache.set(key, reading);
    return reading;
  }

  return {
    async read({ path, within }) {
      const boundary = within === undefined ? {} : { within };
      const single = isSkillFile(path) ? await seenFile(path, boundary, files) : undefined;
      if (single) return { exists: true, readings: [await readOnce(single, boundary)], isCut: false };
      const found = await findMarkdownFiles({ path, ...boundary }, SKILL_LIMITS, files, {
        choose: chooseFiles,
        async descends([first]) {
          if (first === undefined || !isSkillFile(first.path)) return true;
          const reading = await readOnce(first, boundary);
          return 'file' in reading && reading.file.hasSubSkills;
        },
      });
      const readings = await mapLimit(found.files, CONCURRENT_READS, (seen) => readOnce(seen, boundary));
      return { exists: found.exists, readings, isCut: found.isCut };
    },
    prune(used) {
      if (cache.size <= pruneAt) return;
      const kept = new Set(used());
      for (const [key, reading] of cache) if (!kept.has(reading)) cache.delete(key);
      pruneAt = Math.max(MIN_PRUNED, 2 * cache.size);
    },
  };
}
