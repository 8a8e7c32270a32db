/** The home's bearer token, stored in one file that all its servers share. */
import { createHash, randomBytes } from 'node:crypto';
import { link, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { errorCode } from '#server/errors/errno.ts';
import { syncDirectory, writeFileAtomic, writeFileDurable } from '#server/files/atomic-write.ts';
import { openRegular, readBytes } from '#server/files/open-regular.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import { coalesced } from '#server/async/coalesce.ts';
import { StartError } from '#server/errors/start-error.ts';

const TOKEN_BYTES = 32;
const TOKEN_MODE = 0o600;
const FILE_MAX_BYTES = 4096;
/** How long a check waits for the file system before it falls back to the cached token. */
const CHECK_TIMEOUT_MS = 1000;

const tokenPath = (home: string) => join(home, 'server.token');
/** Stores digests of the tokens before and after the last rotation that kept connections open. */
const keptPath = (home: string) => join(home, 'server.token.kept');
const generate = () => randomBytes(TOKEN_BYTES).toString('base64url');
const tooOpen = (mode: number) => process.platform !== 'win32' && (mode & 0o077) !== 0;

export interface TokenFile {
  /**
   * The valid token. The file is read again after a change; while it is unusable or the file system does not respond,
   * the last valid token is returned.
   */
  current(): Promise<string>;
  /** True if the rotation from `before` to `after` keeps existing connections open. */
  keepsConnections(before: string, after: string): Promise<boolean>;
}

const digest = (token: string) => createHash('sha256').update(token).digest('hex');
const rotationOf = (before: string, after: string) => `${digest(before)} ${digest(after)}`;

/**
 * Replaces the token and returns the new one; running servers adopt it at their next check. They close the connections
 * that were opened with the old one, unless `keepConnections` is set.
 */
export async function rotateToken(home: string, { keepConnections = false } = {}): Promise<string> {
  const path = tokenPath(home);
  const token = generate();
  if (keepConnections) {
    const before = await readToken(path).catch(() => undefined);
    // A separate file, since the token's contains only the token. Servers read it after the token has changed.
    if (before) await writeFileDurable(keptPath(home), rotationOf(before.token, token), TOKEN_MODE);
  }
  await writeFileDurable(path, token, TOKEN_MODE);
  return token;
}

/** Creates the file if it is missing; of several servers that start concurrently, one wins and all read its token. */
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

/** Reads through one handle, so that mode, identity and content are consistent. Throws if it is not a regular file. */
async function readToken(path: string): Promise<{ token: string; stats: BigIntStats }> {
  const file = await openRegular(path);
  if (!file) throw new StartError(`${path} is not a regular file`);
  try {
    const stats = await file.stat({ bigint: true });
    return { token: (await readBytes(file, 0, FILE_MAX_BYTES)).toString().trim(), stats };
  } finally {
    await file.close();
  }
}

const unchanged = (a: BigIntStats, b: BigIntStats) => a.mtimeNs === b.mtimeNs && a.ino === b.ino;

/**
 * Opens the token of a home; generates one if the file is missing or empty. Throws `StartError` if other users have
 * access to the file, or if it is not a regular file.
 */
export async function openToken(home: string): Promise<TokenFile> {
  const path = tokenPath(home);
  const existing = await readToken(path).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
  const usable = existing !== undefined && existing.token !== '';
  if (existing === undefined) await createToken(path);
  else if (!usable && !tooOpen(Number(existing.stats.mode))) await rotateToken(home);
  let cached = usable ? existing : await readToken(path);
  const mode = Number(cached.stats.mode);
  if (tooOpen(mode)) {
    const shown = (mode & 0o777).toString(8).padStart(4, '0');
    throw new StartError(
      `${path} has mode ${shown}, expected 0600; others could read the token. Run: chmod 600 ${path}`,
    );
  }

  async function refresh(): Promise<void> {
    try {
      if (unchanged(await stat(path, { bigint: true }), cached.stats)) return;
      const next = await readToken(path);
      if (next.token !== '' && !tooOpen(Number(next.stats.mode))) cached = next;
    } catch {
      // Missing or unreadable: the cached token stays valid, so that clients are not locked out meanwhile.
    }
  }

  /** True while a refresh exceeds its timeout; its result is still used when it completes. */
  let hangs = false;

  async function refreshInTime(): Promise<void> {
    if (hangs) return;
    let settled = false;
    const refreshed = refresh().then(() => {
      settled = true;
      hangs = false;
    });
    await waitAtMost(CHECK_TIMEOUT_MS, refreshed);
    hangs = !settled;
  }

  const check = coalesced(refreshInTime);
  return {
    async current() {
      await check();
      return cached.token;
    },
    async keepsConnections(before, after) {
      // If it is missing, unreadable or from another rotation, connections are closed.
      const kept = await readToken(keptPath(home)).catch(() => undefined);
      return kept?.token === rotationOf(before, after);
    },
  };
}
