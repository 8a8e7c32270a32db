/** The registry of running servers: one file each under `<home>/server/instances/` (core.md §4.4). */
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { errorCode } from '#server/files/errno.ts';
import { processAlive } from '#server/processes/process-alive.ts';

const HEARTBEAT_MS = 15_000;

const instanceSchema = z.object({
  server_id: z.string(),
  pid: z.number().int().positive(),
  host: z.string(),
  port: z.number().int(),
  started_at: z.number(),
  heartbeat_at: z.number(),
  host_version: z.string().optional(),
});
export type Instance = z.infer<typeof instanceSchema>;

export interface InstanceEntry {
  /** Rewrites the file with the port that was bound. */
  bound(port: number): Promise<void>;
  /** Removes the file. */
  close(): Promise<void>;
}

const directory = (home: string) => join(home, 'server', 'instances');

async function readInstance(path: string): Promise<Instance | undefined> {
  try {
    return instanceSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch (error) {
    // Gone meanwhile, or not JSON: skipped and left alone.
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Live servers of a home, oldest first. Files of dead processes are deleted, unreadable ones skipped. */
export async function listInstances(home: string): Promise<Instance[]> {
  const names = await readdir(directory(home)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const live: Instance[] = [];
  for (const name of names.filter((name) => name.endsWith('.json'))) {
    const path = join(directory(home), name);
    const instance = await readInstance(path);
    if (!instance) continue;
    if (processAlive(instance.pid)) live.push(instance);
    else await rm(path, { force: true });
  }
  return live.sort((a, b) => a.started_at - b.started_at);
}

export interface InstanceOptions {
  home: string;
  serverId: string;
  host: string;
  /** The requested port; `bound` corrects it. */
  port: number;
  version: string;
  /** Milliseconds since the epoch. */
  startedAt: number;
  log: Logger;
}

/** Registers this process, sweeping files of dead ones, and keeps its heartbeat. */
export async function registerInstance(options: InstanceOptions): Promise<InstanceEntry> {
  const { home, serverId, host, version, startedAt, log } = options;
  const path = join(directory(home), `${serverId}.json`);
  let port = options.port;
  // One write at a time, so that a late heartbeat cannot bring the file back after its removal.
  let writes = Promise.resolve();
  let closed = false;
  const write = () => {
    const written = writes.then(async () => {
      if (closed) return;
      const instance: Instance = {
        server_id: serverId,
        pid: process.pid,
        host,
        port,
        started_at: startedAt,
        heartbeat_at: Date.now(),
        host_version: version,
      };
      await writeFileAtomic(path, JSON.stringify(instance));
    });
    writes = written.catch(() => undefined);
    return written;
  };

  await mkdir(directory(home), { recursive: true, mode: 0o700 });
  await listInstances(home);
  await write();
  const heartbeat = setInterval(() => {
    write().catch((error: unknown) => log.warn('instance heartbeat failed', { err: error }));
  }, HEARTBEAT_MS);
  heartbeat.unref();

  return {
    bound(boundPort) {
      port = boundPort;
      return write();
    },
    async close() {
      clearInterval(heartbeat);
      closed = true;
      await writes;
      await rm(path, { force: true });
    },
  };
}
