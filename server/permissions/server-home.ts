/** The server's home: where it lies, and where those of its entries lead that may be links. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { errorCode } from '#server/files/errno.ts';
import { realPath } from '#server/runtime/real-path.ts';

export const TOKEN = 'server.token';
export const CREDENTIALS = 'credentials';
export const SESSIONS = 'sessions';
export const SETTINGS = ['config.toml', 'mcp.json'];

/** Entries that may be links to elsewhere. */
const LINKED = [TOKEN, CREDENTIALS, SESSIONS, ...SETTINGS];

/** One call is prepared and decided about within this time; it looks once. */
const SAME_LOOK_MS = 20;

export interface HomePlaces {
  /** With its links resolved. */
  real: string;
  /** Where those entries lead that are links, by name in lower case. */
  links: ReadonlyMap<string, string>;
}

export interface ServerHome {
  readonly path: string;
  /** As it is now, or was a moment ago. */
  look(): Promise<HomePlaces>;
}

/** A dotfile setup keeps the real files elsewhere. */
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
      // A link in a circle leads nowhere.
      if (errorCode(error) === 'ELOOP') return [];
      throw error;
    }
  });
  return new Map((await Promise.all(targets)).flat());
}

async function lookAt(home: string): Promise<HomePlaces> {
  const [real, links] = await Promise.all([realPath(home), linkedEntries(home)]);
  return { real, links };
}

/** Looks at nothing yet. */
export function createServerHome(path: string): ServerHome {
  let last: { places: Promise<HomePlaces>; at: number } | undefined;
  return {
    path,
    look() {
      const now = performance.now();
      if (!last || now - last.at > SAME_LOOK_MS) last = { places: lookAt(path), at: now };
      return last.places;
    },
  };
}
