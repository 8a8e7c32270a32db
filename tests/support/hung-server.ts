/** A built server for which one directory is on a mount that does not answer. */
import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open as openFile, readFile, writeFile, type FileHandle } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome, type BuiltHome } from './built-home.ts';
import type { ApiAnswer } from './server-client.ts';
import { spawnServer, type SpawnedServer } from './spawned-server.ts';

export interface HungServer {
  base: BuiltHome;
  server: SpawnedServer;
  /** The id of a session in the project, which has one file, `b.txt`. */
  session: string;
  /** `POST fs:<action>` of that session. */
  fs(action: string, body: unknown): Promise<ApiAnswer>;
  /** Like `fs`, for a session whose directory contains `hung`, which hangs, and `fine`, with a file in each. */
  fsAround(action: string, body: unknown): Promise<ApiAnswer>;
  /** How many calls have been blocked so far. */
  calls(): Promise<number>;
  /** Sends requests that block one pool thread each and waits until all `threads` are blocked. Replies are ignored. */
  blockPool(threads: number): Promise<void>;
  /** Unblocks the mount. */
  release(): Promise<void>;
  close(): Promise<void>;
}

const HUNG_MOUNT = resolve(import.meta.dirname, 'hung-mount.cjs');

export async function startHungServer(env: NodeJS.ProcessEnv = {}): Promise<HungServer> {
  const base = await makeBuiltHome();
  const around = join(base.root, 'around');
  const hung = join(around, 'hung');
  const pipe = join(base.root, 'pipe');
  for (const folder of [hung, join(around, 'fine')]) {
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, 'a.txt'), 'a');
  }
  await writeFile(join(base.project, 'b.txt'), 'b');
  execFileSync('mkfifo', [pipe]);
  // Threads have an empty environment, so the settings are part of a script that each of them loads.
  const preload = join(base.root, 'preload.cjs');
  const settings = JSON.stringify({ HUNG_PATH: hung, HUNG_PIPE: pipe, ...env });
  await writeFile(preload, `Object.assign(process.env, ${settings});\nrequire(${JSON.stringify(HUNG_MOUNT)});\n`);
  const server = await spawnServer({ home: base.home, preload, env });
  async function open(cwd: string): Promise<string> {
    const { data } = await server.api('POST', '/sessions', { metadata: { cwd } });
    return z.object({ id: z.string() }).parse(data).id;
  }
  const session = await open(base.project);
  const other = await open(around);
  let writer: FileHandle | undefined;
  const calls = () =>
    readFile(`${pipe}.calls`, 'utf8').then(
      (text) => text.length,
      () => 0,
    );

  return {
    base,
    server,
    session,
    fs: (action, body) => server.api('POST', `/sessions/${session}/fs:${action}`, body),
    fsAround: (action, body) => server.api('POST', `/sessions/${other}/fs:${action}`, body),
    calls,
    async blockPool(threads) {
      const before = await calls();
      for (let n = 0; n < threads; n += 1) {
        server.fetch(`/api/v1/fs:content?path=${encodeURIComponent(join(hung, 'a.txt'))}`).catch(() => undefined);
      }
      await expect.poll(calls).toBe(before + threads);
    },
    async release() {
      writer ??= await openFile(pipe, constants.O_WRONLY | constants.O_NONBLOCK);
    },
    async close() {
      await writer?.close();
      server.process.kill('SIGKILL');
      await base.remove();
    },
  };
}
