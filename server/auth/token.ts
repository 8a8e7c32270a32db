/** The home's bearer token: one file that all its servers share. */
import { createHash, randomBytes } from 'node:crypto';
import { link, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { BigIntStats } from 'node:fs';
import { errorCode } from '#server/files/errno.ts';
import { syncDirectory, writeFileAtomic, writeFileDurable } from '#server/files/atomic-write.ts';
import { openRegular, readBytes } from '#server/files/open-regular.ts';
import { atMost } from '#server/processes/at-most.ts';
import { createSharedRun } from '#server/shared-run.ts';
import { StartError } from '#server/start-error.ts';

const TOKEN_BYTES = 32;
const TOKEN_MODE = 0o600;
const FILE_MAX_BYTES = 4096;
/** How long a check waits for the file system before the cached token answers. */
const CHECK_TIMEOUT_MS = 1000;

const tokenPath = (home: string) => join(home, 'server.token');
/** Digests of the tokens before and after the last rotation that kept connections. */
const keptPath = (home: string) => join(home, 'server.token.kept');
const generate = () => randomBytes(TOKEN_BYTES).toString('base64url');
const tooOpen = (mode: number) => process.platform !== 'win32' && (mode & 0o077) !== 0;

export interface TokenFile {
  /**
   * The valid token: the file's, read again when it changed; the last good one while the file is not usable, or the file
   * system does not answer.
   */
  current(): Promise<string>;
  /** Whether the rotation from one token to the next was one that keeps open connections. */
  keepsConnections(before: string, after: string): Promise<boolean>;
}

const digest = (token: string) => createHash('sha256').update(token).digest('hex');
const rotationOf = (before: string, after: string) => `${digest(before)} ${digest(after)}`;

/**
 * Writes a new token over the old one and returns it; running servers adopt it at their next check. They end the
 * connections that were opened with the old one, unless `keepConnections` is set.
 */
export async function rotateToken(home: string, { keepConnections = false } = {}): Promise<string> {
  const path = tokenPath(home);
  const token = generate();
  if (keepConnections) {
    const before = await readToken(path).catch(() => undefined);
    // The file of the token holds nothing else. Servers look at this one when the token has changed.
    if (before) await writeFileDurable(keptPath(home), rotationOf(before.token, token), TOKEN_MODE);
  }
  await writeFileDurable(path, token, TOKEN_MODE);
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

/** Reads through one handle, so that mode, identity and content belong together. Throws for what is no regular file. */
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
 * Opens the token of a home, generating it when the file is missing or empty.
 * Throws `StartError` when others than the owner may touch the file, and when it is no regular file.
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
      // Missing or unreadable: the cached token stays valid, so that nobody is locked out meanwhile.
    }
  }

  /** A refresh that the file system has not answered in time; its result still counts when it comes. */
  let hangs = false;

  async function refreshInTime(): Promise<void> {
    if (hangs) return;
    let settled = false;
    const refreshed = refresh().then(() => {
      settled = true;
      hangs = false;
    });
    await atMost(CHECK_TIMEOUT_MS, refreshed);
    hangs = !settled;
  }

  const check = createSharedRun(refreshInTime);
  return {
    async current() {
      await check();
      return cached.token;
    },
    async keepsConnections(before, after) {
      // Missing, unreadable or of another rotation: connections end.
      const kept = await readToken(keptPath(home)).catch(() => undefined);
      return kept?.token === rotationOf(before, after);
    },
  };
}
