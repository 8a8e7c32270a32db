/**
 * The skills that apply to a directory: those shipped with the server, and those in folders of plugins, user and
 * project. Folders are checked on request, and files are read again only if they have changed.
 */
import { relative } from 'node:path';
import type { SessionWarning } from '#schema/rest/session.ts';
import { createCoalescer } from '#server/async/coalesce.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import type { FolderFiles } from '#server/files/markdown-files.ts';
import type { Logger } from '#server/logging/log.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import { ignoredConfigWarning } from '#server/project-files/ignored-config.ts';
import type { Projects } from '#server/project-files/projects.ts';
import { buildCatalog, type CheckedRoot } from './catalog.ts';
import { skillRoots, type RootsDeps, type SkillRoot } from './roots.ts';
import { createSkillFiles, skillWarning, type Reading } from './skill-files.ts';
import { shippedSkills } from './shipped.ts';
import type { Skill, SkillCatalog } from './skill.ts';

/** How many warnings are logged per check. */
const MAX_LOGGED = 5;
/** Maximum number of directories whose catalogs are cached. */
const MAX_KEPT = 200;
const CONCURRENT_CHECKS = 16;
const NONE: readonly Skill[] = [];

export interface SkillsDeps extends RootsDeps {
  files: FolderFiles;
  admits: Projects['admits'];
  log: Pick<Logger, 'warn'>;
}

export interface Skills {
  /** The result of a check that began after the call; concurrent calls share one. Never rejects. */
  look(cwd: string): Promise<SkillCatalog>;
  /** The catalog of the last check; before the first one the shipped skills. */
  seen(cwd: string): SkillCatalog;
  /** The folders whose skills apply to a directory, existing or not: a write there changes later conversations. */
  folders(cwd: string): Promise<readonly string[]>;
}

/** The catalog of a directory, and the state of the roots that it was built from. */
interface Kept {
  catalog: SkillCatalog;
  roots: CheckedRoot[];
  isShipped: boolean;
}

type WarningsByText = ReadonlyMap<string, SessionWarning>;

const initialCatalog = memoizeByObject((shipped: readonly Skill[]) => buildCatalog(shipped, []));

/** Creates the catalogs; reads no file yet. */
export function createSkills(deps: SkillsDeps): Skills {
  const { log } = deps;
  const skillFiles = createSkillFiles(deps.files);
  const checks = createCoalescer<SkillCatalog>();
  /** LRU cache by directory, the most recently checked last. */
  const kept = new Map<string, Kept>();

  const shipped = () => (deps.settings().builtinProductSkills ? shippedSkills : NONE);
  /** The catalog of a directory that was not checked yet. */
  const initial = () => initialCatalog(shipped());

  /** The warning about a project's file that is ignored because of its owner; the same object as before if there was one. */
  async function ignoredAs({ path }: Reading, { project }: SkillRoot, cwd: string, before: WarningsByText) {
    if (project === undefined || (await deps.admits(project, relative(project, path), cwd))) return undefined;
    return sameWarning(ignoredConfigWarning({ path, directory: project, reason: 'owner' }), before);
  }

  async function checkRoot(root: SkillRoot, cwd: string, before: WarningsByText): Promise<CheckedRoot> {
    const { exists, readings, isCut } = await skillFiles.read(root);
    const ignored = await mapLimit(readings, CONCURRENT_CHECKS, (reading) => ignoredAs(reading, root, cwd, before));
    const cut = isCut ? sameWarning(cutWarning(root.path), before) : undefined;
    return { root, exists, readings, ignored, ...(cut ? { cut } : {}) };
  }

  async function lookNow(cwd: string): Promise<SkillCatalog> {
    const before = kept.get(cwd);
    const warnings = new Map(before?.catalog.warnings.map((warning) => [warning.message, warning]));
    const { mergeAllAvailableSkills: all, builtinProductSkills: isShipped } = deps.settings();
    const found = await skillRoots(cwd, deps);
    const checked = await Promise.all(found.map((root) => checkRoot(root, cwd, warnings)));
    const roots = all ? checked : checked.filter(isFirstOfGroup);
    // An unchanged catalog stays the same object, so that callers can compare by identity.
    const isSame = before?.isShipped === isShipped && isSameState(roots, before.roots);
    const catalog = isSame ? before.catalog : buildCatalog(shipped(), roots);
    const fresh = catalog.warnings.filter((warning) => warnings.get(warning.message) !== warning);
    for (const { message } of fresh.slice(0, MAX_LOGGED)) log.warn('a skill was left out', { reason: message });
    keep(cwd, { catalog, roots, isShipped });
    return catalog;
  }

  function keep(cwd: string, entry: Kept): void {
    kept.delete(cwd);
    kept.set(cwd, entry);
    const [oldest] = kept.keys();
    if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
    skillFiles.prune(() => [...kept.values()].flatMap(({ roots }) => roots.flatMap(({ readings }) => readings)));
  }

  const seen = (cwd: string) => kept.get(cwd)?.catalog ?? initial();

  return {
    look: (cwd) =>
      checks.run(cwd, async () => {
        try {
          return await lookNow(cwd);
        } catch (error) {
          log.warn('skills could not be looked at', { err: error });
          return seen(cwd);
        }
      }),
    seen,
    folders: async (cwd) => (await skillRoots(cwd, deps)).map(({ path }) => path),
  };
}

/** Among roots of the user, and among those of the project, the first that exists; all others. */
function isFirstOfGroup({ root, exists }: CheckedRoot, index: number, all: readonly CheckedRoot[]): boolean {
  if (root.kind !== 'user' && root.kind !== 'project') return true;
  return exists && !all.slice(0, index).some((other) => other.exists && other.root.kind === root.kind);
}

const cutWarning = (path: string) =>
  skillWarning(`Not all skills in ${path} are used: the folder has too many files or folders, or too large ones.`);

/** An earlier warning with the same message, else the new one. */
const sameWarning = (warning: SessionWarning, before: WarningsByText): SessionWarning =>
  before.get(warning.message) ?? warning;

const stateOf = (roots: readonly CheckedRoot[]): unknown[] =>
  roots.flatMap(({ root, exists, readings, ignored, cut }) => [
    JSON.stringify(root),
    exists,
    cut,
    readings.length,
    ...readings,
    ...ignored,
  ]);

function isSameState(now: readonly CheckedRoot[], before: readonly CheckedRoot[]): boolean {
  const [one, other] = [stateOf(now), stateOf(before)];
  return one.length === other.length && one.every((part, index) => part === other[index]);
}
