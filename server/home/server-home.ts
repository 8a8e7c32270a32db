/** The server's home: its location, and the targets of its entries that may be links. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/errors/errno.ts';
import { realPath } from '#server/runtime/real-path.ts';

export const TOKEN = 'server.token';
export const CREDENTIALS = 'credentials';
export const SESSIONS = 'sessions';
/** Indexes; that of search has the text of all sessions. */
export const CACHE = 'cache';
export const SETTINGS = ['config.toml', 'mcp.json'];

/** Entries that may be links to other folders. */
const LINKED = [TOKEN, CREDENTIALS, SESSIONS, CACHE, ...SETTINGS];

/** Cache lifetime: preparing and deciding one call takes less time and reads the disk a single time. */
const SAME_LOOK_MS = 20;

export interface HomePaths {
  /** The home with its links resolved. */
  real: string;
  /** Targets of the entries that are links, by name in lower case. */
  links: ReadonlyMap<string, string>;
}

export interface ServerHome {
  readonly path: string;
  /** Returns the current state, cached for up to `SAME_LOOK_MS`. */
  look(): Promise<HomePaths>;
}

/** Resolves links in the home: dotfile managers store the real files in another folder. */
async function linkedEntries(home: string): Promise<Map<string, string>> {
  const entries = await readdir(home, { withFileTypes: true }).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const links = entries.filter((entry) => entry.isSymbolicLink() && LINKED.includes(entry.name.toLowerCase()));
  const targets = links.map(async ({ name }) => {
    try {
      return [[name.toLowerCase(), await realPath(join(home, name))] as const];
    } catch (error) {
      // A circular link has no target.
      if (errorCode(error) === 'ELOOP') return [];
      throw error;
    }
  });
  return new Map((await Promise.all(targets)).flat());
}

async function lookAt(home: string): Promise<HomePaths> {
  const [real, links] = await Promise.all([realPath(home), linkedEntries(home)]);
  return { real, links };
}

/** Creates the home's reader; the disk is read at the first `look`. */
export function createServerHome(path: string): ServerHome {
  let last: { places: Promise<HomePaths>; at: number } | undefined;
  return {
    path,
    look() {
      const now = performance.now();
      if (!last || now - last.at > SAME_LOOK_MS) last = { places: lookAt(path), at: now };
      return last.places;
    },
  };
}
