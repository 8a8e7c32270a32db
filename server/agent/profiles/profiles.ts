/**
 * Profile catalog of a directory: the built-in profiles and those of the agent files that apply there. Files are
 * checked on request, at most once per `maxAgeMs`, and read again only if they have changed.
 */
import { basename, join, relative, resolve } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Clock } from '#server/clock.ts';
import {
  isUnchanged,
  readMarkdownFile,
  seenFile,
  type FolderFiles,
  type MarkdownFolder,
  type SeenFile,
} from '#server/files/markdown-files.ts';
import { findMarkdownFiles, type FolderLimits } from '#server/files/markdown-folders.ts';
import { isInside } from '#server/files/paths.ts';
import type { Logger } from '#server/logging/log.ts';
import { ignoredConfigWarning, type IgnoredConfig } from '#server/project-files/ignored-config.ts';
import { AGENTS_FOLDER, PROJECT_FOLDER } from '#server/project-files/places.ts';
import type { Project, Projects } from '#server/project-files/projects.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import type { ControlFolders } from '#server/permissions/control-folders.ts';
import { builtinProfiles, mainProfile } from './built-in.ts';
import { parseAgentFile, type AgentFile } from './agent-file.ts';
import type { Catalog, Profile, ProfileSource } from '../contract/profile.ts';

/** A larger agent file is not read. */
export const AGENT_FILE_BYTES = 256 * 1024;
/** Limits for one folder with its subfolders. */
const LIMITS: FolderLimits = {
  depth: 8,
  files: 200,
  directories: 200,
  bytesPerFile: AGENT_FILE_BYTES,
  bytes: 200 * AGENT_FILE_BYTES,
  linkedDirectories: false,
};
/** How many broken files are logged per check. */
const MAX_LOGGED = 5;
/** Maximum number of directories whose catalogs are cached. */
const MAX_KEPT = 200;

/** Among profiles with one name the highest priority wins; built-in ones have the lowest. */
const PRIORITY = { builtin: 0, added: 5, user: 10, extra: 20, workspace: 30 } as const;

export interface AgentProfiles {
  /** Checks the files, unless that was done within `maxAgeMs` with the same added folders. Never rejects. */
  look(cwd: string): Promise<Catalog>;
  /** The catalog of the last check; before the first one the built-in profiles. */
  seen(cwd: string): Catalog;
  /** The folders whose agent files apply to a directory. */
  folders(cwd: string): Promise<ControlFolders>;
}

export interface AgentProfilesDeps {
  files: FolderFiles;
  /** The server's home, with the user's agent files. */
  home: string;
  /** The user's home directory, for `~`. */
  homeDirectory(): string;
  /** Further folders, such as those of plugins, read at each check. Of equal names the first wins. */
  addedFolders(): readonly MarkdownFolder[];
  /** Value of `extra_agent_dirs`. */
  extraDirs(): readonly string[];
  project(cwd: string): Promise<Project>;
  admits: Projects['admits'];
  /** Whether the user trusts exactly this directory. */
  trusted(directory: string): Promise<boolean>;
  clock: Pick<Clock, 'now'>;
  /** How long a check stays valid, in ms. */
  maxAgeMs: number;
  log: Pick<Logger, 'warn'>;
}

interface Source extends MarkdownFolder {
  priority: number;
}

/** Result of reading a file. `ignored` is the warning of a valid file that is not applied. */
type Read = SeenFile & ({ file: AgentFile; ignored?: SessionWarning } | { warning: SessionWarning });

interface Kept {
  at: number;
  /** The added folders at that time. */
  added: string;
  catalog: Promise<Catalog>;
  seen: Catalog;
  /** Results that the catalog was built from, by path. */
  read: Map<string, Read>;
  template: string | undefined;
}

const builtinSource: ProfileSource = {
  id: 'builtin',
  priority: PRIORITY.builtin,
  profiles: [...builtinProfiles.keys()],
};
const builtin: Catalog = { profiles: builtinProfiles, sources: [builtinSource], warnings: [] };

/** Creates the catalogs; reads no file yet. */
export function createAgentProfiles(deps: AgentProfilesDeps): AgentProfiles {
  const { files, home, clock, log } = deps;
  /** LRU cache by directory, the most recently checked last. */
  const kept = new Map<string, Kept>();
  let own: (SeenFile & { text: string }) | undefined;

  const userFolder = () => join(deps.homeDirectory(), AGENTS_FOLDER);

  async function sourcesOf(cwd: string): Promise<Source[]> {
    const root = (await deps.project(cwd)).top ?? cwd;
    const extra = deps.extraDirs().map((named) => {
      const path = resolve(root, named.replace(/^~(?=\/|$)/, deps.homeDirectory()));
      // The user has configured the folder, but the project controls its content.
      return { path, ...(isInside(path, root) && { within: root }), priority: PRIORITY.extra };
    });
    return [
      ...deps.addedFolders().map((folder) => ({ ...folder, priority: PRIORITY.added })),
      { path: join(home, 'agents'), priority: PRIORITY.user },
      { path: join(userFolder(), 'agents'), priority: PRIORITY.user },
      ...extra,
      // The files of a project may have any author, so their links must stay within the project.
      { path: join(root, PROJECT_FOLDER, 'agents'), within: root, priority: PRIORITY.workspace },
      { path: join(root, AGENTS_FOLDER, 'agents'), within: root, priority: PRIORITY.workspace },
    ];
  }

  const textOf = (path: string, { within }: Omit<MarkdownFolder, 'path'>) =>
    readMarkdownFile(path, { ...(within === undefined ? {} : { within }), maxBytes: AGENT_FILE_BYTES }, files);

  async function readOnce(seen: SeenFile, source: Source, before: ReadonlyMap<string, Read>): Promise<Read> {
    const known = before.get(seen.path);
    if (known && isUnchanged(seen, known)) return known;
    try {
      const file = await parseAgentFile(await textOf(seen.path, source), basename(seen.path, '.md'));
      if (file.override || !builtinProfiles.has(file.name)) return { ...seen, file };
      throw new Error(`"${file.name}" is a built-in profile; a file takes its place with override: true`);
    } catch (error) {
      return { ...seen, warning: broken(seen.path, errorMessage(error)) };
    }
  }

  /** The warning about a project's file that is not applied; undefined if it is. */
  async function ignoredAs(file: AgentFile, path: string, root: string, cwd: string) {
    const ignored = (reason: IgnoredConfig['reason']) => ignoredConfigWarning({ path, directory: root, reason });
    if (!(await deps.admits(root, relative(root, path), cwd))) return ignored('owner');
    // By replacing the main agent's prompt, the project would speak to the model in the user's place.
    return file.name === mainProfile.name && !(await deps.trusted(root)) ? ignored('untrusted') : undefined;
  }

  /** Updates whether a file is applied now; returns the same object if that is unchanged. */
  async function judged(read: Read, { within: root }: Source, cwd: string): Promise<Read> {
    if (!('file' in read) || root === undefined) return read;
    const ignored = await ignoredAs(read.file, read.path, root, cwd);
    if (ignored?.message === read.ignored?.message) return read;
    const { ignored: _before, ...rest } = read;
    return ignored ? { ...rest, ignored } : rest;
  }

  async function promptOf(path: string): Promise<string> {
    try {
      return (await textOf(path, {})).trim();
    } catch (error) {
      log.warn('SYSTEM.md was left out', { path, err: error });
      return '';
    }
  }

  /** The template that replaces the main agent's prompt, if the user has written one. */
  async function ownPrompt(): Promise<string | undefined> {
    const seen = await seenFile(join(home, 'SYSTEM.md'), {}, files);
    const same = seen && own && isUnchanged(seen, own);
    if (!same) own = seen && { ...seen, text: await promptOf(seen.path) };
    return own?.text || undefined;
  }

  async function lookNow(cwd: string, entry: Kept): Promise<void> {
    const sources = await sourcesOf(cwd);
    const [template, ...found] = await Promise.all([
      ownPrompt(),
      ...sources.map(async (source) => ({
        source,
        files: (await findMarkdownFiles(source, LIMITS, files)).files,
      })),
    ]);
    const read = new Map<string, Read>();
    const agents: { file: AgentFile; source: Source }[] = [];
    for (const { source, files: there } of found) {
      for (const seen of there) {
        // Two sources may name the same folder.
        if (read.has(seen.path)) continue;
        const one = await judged(await readOnce(seen, source, entry.read), source, cwd);
        read.set(seen.path, one);
        if ('file' in one && !one.ignored) agents.push({ file: one.file, source });
      }
    }
    const before = [...entry.read.values()];
    // An unchanged catalog stays the same object, so that callers can compare by identity.
    if (template === entry.template && read.size === before.length) {
      if ([...read.values()].every((one, place) => one === before[place])) return;
    }
    const profiles = new Map(builtinProfiles);
    if (template !== undefined) profiles.set(mainProfile.name, { ...mainProfile, template });
    // Later entries replace earlier ones, so the first of equal priority is applied last.
    for (const { file } of agents.toReversed().toSorted((one, other) => one.source.priority - other.source.priority)) {
      profiles.set(file.name, profileOf(file, profiles.get(file.name)));
    }
    const warnings = [...read.values()].flatMap((one) => ('warning' in one ? one.warning : (one.ignored ?? [])));
    const fresh = warnings.filter((warning) => !entry.seen.warnings.includes(warning));
    for (const { message } of fresh.slice(0, MAX_LOGGED)) log.warn('an agent file was left out', { reason: message });
    entry.read = read;
    entry.template = template;
    entry.seen = { profiles, sources: [builtinSource, ...profileSources(agents)], warnings };
  }

  async function lookAgain(cwd: string, entry: Kept): Promise<Catalog> {
    try {
      await lookNow(cwd, entry);
    } catch (error) {
      log.warn('agent files could not be looked at', { err: error });
    }
    return entry.seen;
  }

  return {
    look(cwd) {
      const known = kept.get(cwd);
      const at = clock.now();
      // Plugins that were installed or removed since the last check must be noticed.
      const added = JSON.stringify(deps.addedFolders());
      if (known?.added === added && at - known.at < deps.maxAgeMs) return known.catalog;
      const entry: Kept = known ?? {
        at,
        added,
        catalog: Promise.resolve(builtin),
        seen: builtin,
        read: new Map(),
        template: undefined,
      };
      entry.at = at;
      entry.added = added;
      entry.catalog = entry.catalog.then(() => lookAgain(cwd, entry));
      kept.delete(cwd);
      kept.set(cwd, entry);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return entry.catalog;
    },
    seen: (cwd) => kept.get(cwd)?.seen ?? builtin,
    async folders(cwd) {
      return { user: [userFolder()], named: (await sourcesOf(cwd)).map(({ path }) => path) };
    },
  };
}

function profileSources(agents: readonly { file: AgentFile; source: Source }[]): ProfileSource[] {
  return [...new Set(agents.map(({ source }) => source))].map((source) => ({
    id: source.path,
    priority: source.priority,
    profiles: agents.flatMap((agent) => (agent.source === source ? agent.file.name : [])),
  }));
}

const broken = (path: string, reason: string): SessionWarning => ({
  code: 'agent-file-invalid',
  message: `The agent file ${path} is not used: ${reason}.`,
  severity: 'warning',
});

/** A file without `subagents` inherits those of the profile that it replaces. */
function profileOf(file: AgentFile, replaced: Profile | undefined): Profile {
  const { name, description, whenToUse, tools, disallowedTools, template } = file;
  const subagents = file.subagents ?? replaced?.subagents;
  return {
    name,
    description: whenToUse === undefined ? description : `${description} ${whenToUse}`,
    tools,
    ...(disallowedTools ? { disallowedTools } : {}),
    ...(subagents ? { subagents } : {}),
    ...(builtinProfiles.has(name) ? {} : { discovered: true as const }),
    template,
  };
}
