/**
 * The profiles of a directory: the built-in ones, and those of the files that apply there. Files are looked at when it is
 * asked for, at most once in a while, and read again only when they have changed.
 */
import { basename, isAbsolute, join } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Clock } from '#server/clock.ts';
import type { Logger } from '#server/logging/log.ts';
import type { SessionWarning } from '#schema/session.ts';
import { builtinProfiles, mainProfile, type Profile, type Profiles } from '../profile.ts';
import { parseAgentFile, type AgentFile } from './agent-file.ts';
import {
  findAgentFiles,
  readAgentFile,
  seenFile,
  type AgentFolder,
  type FolderFiles,
  type SeenFile,
} from './agent-folders.ts';

/** Of broken files in one look, those that are logged. */
const MAX_LOGGED = 5;
/** Directories whose profiles are kept. */
const MAX_KEPT = 200;

/** Of several profiles of a name that of the highest priority counts; built-in ones have the lowest. */
const PRIORITY = { user: 10, extra: 20, workspace: 30 } as const;

export interface Catalog {
  profiles: Profiles;
  /** One for each broken file: the same object as long as the file has not changed. */
  warnings: readonly SessionWarning[];
}

export interface AgentProfiles {
  /** Looks at the files, unless that was done just now. Never rejects. */
  look(cwd: string): Promise<Catalog>;
  /** As last seen; the built-in ones before the first look. */
  seen(cwd: string): Catalog;
}

export interface AgentProfilesDeps {
  files: FolderFiles;
  /** The server's home, with the user's own agents. */
  home: string;
  /** `~` of the user. */
  homeDirectory(): string;
  /** `extra_agent_dirs` */
  extraDirs(): readonly string[];
  /** Root of the git work tree that holds a directory, if any. */
  gitRoot(cwd: string): Promise<string | undefined>;
  clock: Pick<Clock, 'now'>;
  /** How long what was seen is taken for true, in ms. */
  maxAgeMs: number;
  log: Pick<Logger, 'warn'>;
}

interface Source extends AgentFolder {
  priority: number;
}

/** What was made of a file. */
type Read = SeenFile & ({ file: AgentFile } | { warning: SessionWarning });

interface Kept {
  at: number;
  catalog: Promise<Catalog>;
  seen: Catalog;
  read: Map<string, Read>;
}

const builtin: Catalog = { profiles: builtinProfiles, warnings: [] };

/** Creates it; looks at nothing. */
export function createAgentProfiles(deps: AgentProfilesDeps): AgentProfiles {
  const { files, home, clock, log } = deps;
  /** By directory; the one looked at last stands at the end. */
  const kept = new Map<string, Kept>();
  let own: (SeenFile & { text: string }) | undefined;

  async function sourcesOf(cwd: string): Promise<Source[]> {
    const root = (await deps.gitRoot(cwd)) ?? cwd;
    const extra = deps.extraDirs().map((path) => {
      const expanded = path.replace(/^~(?=\/|$)/, deps.homeDirectory());
      return isAbsolute(expanded) ? expanded : join(root, expanded);
    });
    return [
      { path: join(home, 'agents'), priority: PRIORITY.user },
      { path: join(deps.homeDirectory(), '.agents', 'agents'), priority: PRIORITY.user },
      ...extra.map((path) => ({ path, priority: PRIORITY.extra })),
      // Anybody may have written what a project brings: its links lead to nothing outside.
      { path: join(root, '.service-code', 'agents'), within: root, priority: PRIORITY.workspace },
      { path: join(root, '.agents', 'agents'), within: root, priority: PRIORITY.workspace },
    ];
  }

  async function readOnce(seen: SeenFile, before: ReadonlyMap<string, Read>): Promise<Read> {
    const known = before.get(seen.path);
    if (known?.mtimeMs === seen.mtimeMs && known.size === seen.size) return known;
    try {
      return { ...seen, file: parseAgentFile(await readAgentFile(seen.path, files), basename(seen.path, '.md')) };
    } catch (error) {
      return { ...seen, warning: broken(seen.path, errorMessage(error)) };
    }
  }

  /** The prompt that stands in place of the main agent's, if the user has written one. */
  async function ownPrompt(): Promise<string | undefined> {
    const seen = await seenFile(join(home, 'SYSTEM.md'), {}, files);
    const same = seen && own?.mtimeMs === seen.mtimeMs && own.size === seen.size;
    if (!same) own = seen && { ...seen, text: (await readAgentFile(seen.path, files).catch(() => '')).trim() };
    return own?.text || undefined;
  }

  async function lookNow(cwd: string, before: ReadonlyMap<string, Read>) {
    const read = new Map<string, Read>();
    const found: { file: AgentFile; path: string; priority: number; seen: Read }[] = [];
    for (const source of await sourcesOf(cwd)) {
      for (const seen of await findAgentFiles(source, files)) {
        // A folder may be named twice.
        const one = read.get(seen.path) ?? (await readOnce(seen, before));
        if (!read.has(seen.path) && 'file' in one) {
          found.push({ file: one.file, path: seen.path, priority: source.priority, seen: one });
        }
        read.set(seen.path, one);
      }
    }
    const profiles = new Map(builtinProfiles);
    const template = await ownPrompt();
    if (template !== undefined) profiles.set(mainProfile.name, { ...mainProfile, template });
    // The first of those that are equal counts, so that it comes last.
    for (const { file, path, seen } of found.toReversed().toSorted((a, b) => a.priority - b.priority)) {
      if (builtinProfiles.has(file.name) && !file.override) {
        const warning = broken(
          path,
          `"${file.name}" is a built-in profile; a file takes its place with override: true`,
        );
        read.set(path, { path, mtimeMs: seen.mtimeMs, size: seen.size, warning });
      } else profiles.set(file.name, profileOf(file, profiles.get(file.name)));
    }
    const warnings = [...read.values()].flatMap((one) => ('warning' in one ? one.warning : []));
    tell(warnings, before);
    return { read, catalog: { profiles, warnings } };
  }

  function tell(warnings: readonly SessionWarning[], before: ReadonlyMap<string, Read>): void {
    const known = new Set([...before.values()].flatMap((one) => ('warning' in one ? one.warning : [])));
    for (const warning of warnings.filter((one) => !known.has(one)).slice(0, MAX_LOGGED)) {
      log.warn('an agent file was left out', { reason: warning.message });
    }
  }

  async function lookAgain(cwd: string, entry: Kept): Promise<Catalog> {
    try {
      const { read, catalog } = await lookNow(cwd, entry.read);
      entry.read = read;
      entry.seen = catalog;
    } catch (error) {
      log.warn('agent files could not be looked at', { err: error });
    }
    return entry.seen;
  }

  return {
    look(cwd) {
      const known = kept.get(cwd);
      const at = clock.now();
      if (known && at - known.at < deps.maxAgeMs) return known.catalog;
      const entry: Kept = known ?? { at, catalog: Promise.resolve(builtin), seen: builtin, read: new Map() };
      entry.at = at;
      entry.catalog = entry.catalog.then(() => lookAgain(cwd, entry));
      kept.delete(cwd);
      kept.set(cwd, entry);
      const [oldest] = kept.keys();
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest);
      return entry.catalog;
    },
    seen: (cwd) => kept.get(cwd)?.seen ?? builtin,
  };
}

const broken = (path: string, reason: string): SessionWarning => ({
  code: 'agent-file-invalid',
  message: `The agent file ${path} is not used: ${reason}.`,
  severity: 'warning',
});

/** One that says nothing of its subagents has those of the profile whose place it takes. */
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
