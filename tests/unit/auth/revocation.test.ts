import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createCredentials } from '#server/auth/credentials.ts';
import { createRevocation } from '#server/auth/revocation.ts';
import { openToken, rotateToken } from '#server/auth/token.ts';
import { createLogger } from '#server/logging/log.ts';
import { eventually, until } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('a rotation during a check closes no connection of the token before it', async () => {
  const judged: boolean[] = [];
  const { close } = await createRevocation({
    token: { current: async () => 'before', keepsConnections: async () => true },
    // This check reads the token again, after the rotation.
    credentials: { accepts: async (secret) => secret === 'after' },
    connections: {
      async endRefused(accepts) {
        judged.push(await accepts('before'), await accepts('an older one'));
      },
    },
    log: createLogger('silent'),
    checkMs: 1,
  });
  onTestFinished(close);
  await eventually(() => expect(judged.slice(0, 2)).toEqual([true, false]));
});

it('checks often enough that a connection is closed within 5 s of a rotation, with a reserve for the check', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let valid = 'before';
  const judged: boolean[] = [];
  const { close } = await createRevocation({
    token: { current: async () => valid, keepsConnections: async () => false },
    credentials: { accepts: async (secret) => secret === valid },
    connections: { endRefused: async (accepts) => void judged.push(await accepts('before')) },
    log: createLogger('silent'),
  });
  onTestFinished(close);
  // A rotation directly after a check has the longest wait for the next one.
  while (judged.length === 0) await vi.advanceTimersByTimeAsync(1);
  valid = 'after';
  await vi.advanceTimersByTimeAsync(2500);
  expect(judged).toEqual([true, false]);
});

it('logs a check that fails, checks again, and stops when it is closed', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const logged: unknown[] = [];
  const failure = new Error('EIO: i/o error, read');
  let checks = 0;
  const { close } = await createRevocation({
    token: { current: async () => 'token', keepsConnections: async () => false },
    credentials: { accepts: async () => true },
    connections: {
      async endRefused() {
        checks += 1;
        if (checks === 1) throw failure;
      },
    },
    log: createLogger('error', (_line, fields) => logged.push(fields)),
    checkMs: 10,
  });
  await vi.advanceTimersByTimeAsync(10);
  expect(logged).toEqual([{ err: failure }]);
  await vi.advanceTimersByTimeAsync(10);
  expect(checks).toBe(2);
  close();
  await vi.advanceTimersByTimeAsync(50);
  expect(checks).toBe(2);
  expect(logged).toHaveLength(1);
});

/** Starts checks of a home's connections and counts them; connections opened with `secrets` are open. */
async function checks(home: string, secrets: string[]) {
  const file = await openToken(home);
  const open = new Set(secrets);
  let count = 0;
  const revocation = await createRevocation({
    token: file,
    credentials: createCredentials(file, undefined),
    connections: {
      async endRefused(accepts) {
        for (const secret of open) if (!(await accepts(secret))) open.delete(secret);
        count += 1;
      },
    },
    log: createLogger('silent'),
    checkMs: 1,
  });
  return {
    open: () => [...open],
    /** Waits for a check that starts after this call. */
    async next() {
      const before = count;
      await until(() => count >= before + 2, 'a check');
    },
    close: revocation.close,
  };
}

it('a file that is temporarily missing, empty or too open closes no connection', async () => {
  const home = await temporaryHome();
  const token = await (await openToken(home)).current();
  const path = join(home, 'server.token');
  const checked = await checks(home, [token]);
  try {
    await checked.next();
    await rm(path);
    await checked.next();
    expect(checked.open()).toEqual([token]);
    await writeFile(path, '', { mode: 0o600 });
    await checked.next();
    expect(checked.open()).toEqual([token]);
    await rm(path);
    await writeFile(path, 'another', { mode: 0o644 });
    await checked.next();
    expect(checked.open()).toEqual([token]);
    await rm(path);
    await writeFile(path, token, { mode: 0o600 });
    await checked.next();
    expect(checked.open()).toEqual([token]);
    const next = await rotateToken(home);
    expect(await readFile(path, 'utf8')).toBe(next);
    await checked.next();
    expect(checked.open()).toEqual([]);
  } finally {
    checked.close();
  }
});

it('a rotation that keeps connections keeps only those of the token before it', async () => {
  const home = await temporaryHome();
  const token = await (await openToken(home)).current();
  const checked = await checks(home, [token]);
  try {
    const second = await rotateToken(home, { keepConnections: true });
    await checked.next();
    expect(checked.open()).toEqual([token]);
    await rotateToken(home, { keepConnections: true });
    await checked.next();
    expect(checked.open()).toEqual([token]);
    expect(second).not.toBe(token);
    await rotateToken(home);
    await checked.next();
    expect(checked.open()).toEqual([]);
  } finally {
    checked.close();
  }
  const late = await checks(home, [token]);
  try {
    await late.next();
    expect(late.open()).toEqual([]);
  } finally {
    late.close();
  }
});
