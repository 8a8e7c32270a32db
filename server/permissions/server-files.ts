/** The server's own files, which its agents must not read or change without approval. */
import { join, relative, sep } from 'node:path';
import { isInside } from '#server/files/paths.ts';
import type { ToolEnvironment } from '#server/tools/tool.ts';
import { CACHE, CREDENTIALS, SESSIONS, SETTINGS, TOKEN } from '#server/home/server-home.ts';

export interface ServerFiles {
  /**
   * Token, credentials, indexes (with the text of all sessions), and the folders of sessions other than this one and its ancestors (which it was copied from):
   * no tool reads or writes them.
   */
  isSecret(path: string): boolean;
  /** Settings files of the home that contain keys. */
  isSettings(path: string): boolean;
  /** Any path in the home except the files of the session's agents in its folder. */
  isHome(path: string): boolean;
  /** The session's folder and its contents. */
  isOwn(path: string): boolean;
}

/** Paths that the access depends on. Without `sessionDir` no session's files are accessible. */
type ServerFolders = Pick<ToolEnvironment, 'home' | 'ancestorDirs'> & Partial<Pick<ToolEnvironment, 'sessionDir'>>;

/** The part of the session's folder that belongs to its agents; journal, state and lock next to it record approvals. */
const AGENTS = 'agents';
/** Segments of a session's folder below `sessions`: workspace and session. */
const SESSION_DEPTH = 2;

/** Environments of any process, including ours, under Linux: they contain secrets. */
const PROCESS_ENVIRONMENT = /^\/proc\/.*\/environ$/s;

/** Ignores case: on a case-insensitive file system another spelling must not bypass the test. */
const inside = (path: string, folder: string) => isInside(path.toLowerCase(), folder.toLowerCase());

/**
 * Reads the server's files for one decision. Each predicate takes a path as named or with links resolved; test both.
 */
export async function findServerFiles({ home, sessionDir, ancestorDirs = [] }: ServerFolders): Promise<ServerFiles> {
  const { real, links } = await home.look();
  const homes = [...new Set([home.path, real])];
  const linked = (names: readonly string[]) => names.flatMap((name) => links.get(name) ?? []);
  const secrets = linked([TOKEN, CREDENTIALS, CACHE]);
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
        // A prefix, so that temporary files written before a rename match too.
        return first.startsWith(TOKEN) || first === CREDENTIALS || first === CACHE;
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
