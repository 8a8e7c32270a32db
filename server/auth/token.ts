/** The home's bearer token: one file that all its servers share. */
import { randomBytes } from 'node:crypto';
import { link, open, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { errorCode } from '#server/files/errno.ts';
import { syncDirectory, writeFileAtomic, writeFileDurable } from '#server/files/atomic-write.ts';
import { createSharedRun } from '#server/shared-run.ts';
import { StartError } from '#server/start-error.ts';

const TOKEN_BYTES = 32;
const TOKEN_MODE = 0o600;

const tokenPath = (home: string) => join(home, 'server.token');
const generate = () => randomBytes(TOKEN_BYTES).toString('base64url');
const tooOpen = (mode: number) => process.platform !== 'win32' && (mode & 0o077) !== 0;

export interface TokenFile {
  /** The valid token: the file's, read again when it changed; the last good one while the file is not usable. */
  current(): Promise<string>;
}

/** Writes a new token over the old one and returns it; running servers adopt it at their next check. */
export async function rotateToken(home: string): Promise<string> {
  const token = generate();
  await writeFileDurable(tokenPath(home), token, TOKEN_MODE);
  return token;
}

/** Makes the file if it is missing; of several servers that start at once, one wins and the others read its token. */
async function createToken(path: string): Promise<void> {
  const temporary = `${path}.tmp-${process.pid}-${randomBytes(4).toString('hex')}`;
  try {
    await writeFileAtomic(temporary, generate(), TOKEN_MODE);
    await link(temporary, path);
    await syncDirectory(dirname(path));
  } catch (error) {
    if (errorCode(error) !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Reads through one handle, so that mode, identity and content belong together. */
async function readToken(path: string): Promise<{ token: string; stats: BigIntStats }> {
  const file = await open(path, 'r');
  try {
    const stats = await file.stat({ bigint: true });
    return { token: (await file.readFile('utf8')).trim(), stats };
  } finally {
    await file.close();
  }
}

const unchanged = (a: BigIntStats, b: BigIntStats) => a.mtimeNs === b.mtimeNs && a.ino === b.ino;

/**
 * Opens the token of a home, generating it when the file is missing or empty.
 * Throws `StartError` when others than the owner may touch the file.
 */
export async function openToken(home: string): Promise<TokenFile> {
  const path = tokenPath(home);
  const existing = await readFile(path, 'utf8').catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  if (existing === undefined) await createToken(path);
  else if (existing.trim() === '' && !tooOpen((await stat(path)).mode)) await rotateToken(home);
  let cached = await readToken(path);
  const mode = Number(cached.stats.mode);
  if (tooOpen(mode)) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0');
    throw new StartError(
      `${path} has mode ${shown}, expected 0600; others could read the token. Run: chmod 600 ${path}`,
    );
  }

  const refresh = async (): Promise<void> => {
    try {
      if (unchanged(await stat(path, { bigint: true }), cached.stats)) return;
      const next = await readToken(path);
      if (next.token !== '' && !tooOpen(Number(next.stats.mode))) cached = next;
    } catch {
      // Missing or unreadable: the cached token stays valid, so that nobody is locked out meanwhile.
    }
  };

  const check = createSharedRun(refresh);
  return {
    async current() {
      await check();
      return cached.token;
    },
  };
}
