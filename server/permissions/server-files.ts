/** The server's own files, which the agents it runs must not read or change by themselves. */
import { join, relative, sep } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { CREDENTIALS, SESSIONS, SETTINGS, TOKEN } from './server-home.ts';

export interface ServerFiles {
  /**
   * Token, credentials, the folders of other sessions but those that this one was copied from: no tool reads or writes
   * them.
   */
  isSecret(path: string): boolean;
  /** Files of the home that hold keys among the settings. */
  isSettings(path: string): boolean;
  /** Anything of the home but what the session's agents keep in its folder. */
  isHome(path: string): boolean;
  /** The session's own folder and what is in it. */
  isOwn(path: string): boolean;
}

/** Without a session's folder no session's files are the caller's own. */
type Places = Pick<ToolEnvironment, 'home' | 'ancestorDirs'> & Partial<Pick<ToolEnvironment, 'sessionDir'>>;

/** Of the session's folder this is its agents' own; journal, state and lock beside it hold what was approved. */
const AGENTS = 'agents';
/** Segments of a session's folder below `sessions`: workspace and session. */
const SESSION_DEPTH = 2;

/** Secrets of any process, ours among them, as Linux shows them. */
const PROCESS_ENVIRONMENT = /^\/proc\/.*\/environ$/s;

/** Compared without regard to case: where that is the same file it must not be a way around. */
const inside = (path: string, folder: string) => isInside(path.toLowerCase(), folder.toLowerCase());

/**
 * The server's files as they are for one decision. Every question takes a path as named or with its links
 * resolved; ask for both.
 */
export async function findServerFiles({ home, sessionDir, ancestorDirs = [] }: Places): Promise<ServerFiles> {
  const { real, links } = await home.look();
  const homes = [...new Set([home.path, real])];
  const linked = (names: readonly string[]) => names.flatMap((name) => links.get(name) ?? []);
  const secrets = linked([TOKEN, CREDENTIALS]);
  const settings = linked(SETTINGS);
  const sessions = [...homes.map((folder) => join(folder, SESSIONS)), ...linked([SESSIONS])];
  const inEveryHome = (folder: string) => {
    const below = relative(join(home.path, SESSIONS), folder);
    return [folder, ...sessions.map((one) => join(one, below))];
  };
  const own = sessionDir === undefined ? [] : inEveryHome(sessionDir);
  const ancestors = ancestorDirs.flatMap(inEveryHome);

  const isInAny = (path: string, folders: readonly string[]) => folders.some((folder) => inside(path, folder));
  const isOwn = (path: string) => isInAny(path, own);
  const agents = own.map((folder) => join(folder, AGENTS));
  const segmentsBelow = (path: string, folder: string) =>
    relative(folder.toLowerCase(), path.toLowerCase()).split(sep).filter(Boolean);

  return {
    isOwn,
    isSecret(path) {
      if (PROCESS_ENVIRONMENT.test(path) || isInAny(path, secrets)) return true;
      if (isOwn(path) || isInAny(path, ancestors)) return false;
      const deep = (folder: string) => segmentsBelow(path, folder).length >= SESSION_DEPTH;
      if (sessions.some((folder) => inside(path, folder) && deep(folder))) return true;
      return homes.some((folder) => {
        if (!inside(path, folder)) return false;
        const [first = ''] = segmentsBelow(path, folder);
        // A prefix, so that what is written beside it on the way to the disk counts too.
        return first.startsWith(TOKEN) || first === CREDENTIALS;
      });
    },
    isSettings: (path) =>
      isInAny(path, settings) ||
      homes.some((folder) => {
        const [first = '', ...rest] = segmentsBelow(path, folder);
        return inside(path, folder) && rest.length === 0 && SETTINGS.some((name) => first.startsWith(name));
      }),
    isHome: (path) =>
      !isInAny(path, agents) &&
      (isInAny(path, homes) || isInAny(path, [...secrets, ...settings, ...linked([SESSIONS])])),
  };
}
