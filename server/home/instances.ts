/** Registry of running servers: one file per server in `<home>/server/instances/`. */
import { closeSync, fdatasync, fdatasyncSync, fstatSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod';
import type { Logger } from '#server/logging/log.ts';
import { errorCode } from '#server/errors/errno.ts';
import { writeFileAtomic } from '#server/files/atomic-write.ts';
import { processStart, thisProcess, type ProcessIdentity } from '#server/processes/process-identity.ts';
import { runAtExit } from '#server/processes/process-exit.ts';
import { processAlive } from '#server/processes/process-alive.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import { createHeartbeatWatch, createOwnHeartbeat, HEARTBEAT_MS, systemClock, type Clock } from './heartbeats.ts';

/** How long a silent server's file of another machine is retained: that machine may be suspended. */
const FORGET_MS = 24 * 60 * 60 * 1000;

const instanceSchema = z.object({
  server_id: z.string(),
  pid: z.number().int().positive(),
  host: z.string(),
  port: z.number().int(),
  started_at: z.number(),
  heartbeat_at: z.number(),
  host_version: z.string().optional(),
  /** Undefined in files of older versions; those belong to this machine. */
  machine: z.string().optional(),
  start: z.string().optional(),
  /** Path of the server at a proxy, without a final slash. */
  base_path: z.string().optional(),
  /** Absolute path of the certificate file; its server speaks TLS only. */
  certificate: z.string().optional(),
  /**
   * Whether commands may use the server: its port is bound, so that no other program listens at it, and it does not end
   * with a command.
   */
  shared: z.boolean().optional(),
});
export type Instance = z.infer<typeof instanceSchema>;

export interface InstanceEntry {
  /** Identity with which this server acquires leases. */
  readonly holder: LeaseHolder;
  /** Rewrites the file with the bound port. `isShared`: commands may use the server. */
  bound(port: number, isShared: boolean): Promise<void>;
  /** Removes the file. */
  close(): Promise<void>;
}

const directory = (home: string) => join(home, 'server', 'instances');

async function readInstance(path: string): Promise<Instance | undefined> {
  try {
    return instanceSchema.safeParse(JSON.parse(await readFile(path, 'utf8'))).data;
  } catch (error) {
    // The file was removed meanwhile or is not JSON: it is skipped and not deleted.
    if (errorCode(error) === 'ENOENT' || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/** Reads all valid instance files; an unreadable file of another server must not prevent this one from starting. */
async function readAll(home: string, log?: Logger): Promise<{ path: string; instance: Instance }[]> {
  const names = await readdir(directory(home)).catch((error: unknown) => {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  });
  const paths = names.filter((name) => name.endsWith('.json')).map((name) => join(directory(home), name));
  const read = (path: string) =>
    readInstance(path).catch((error: unknown) => {
      log?.warn('an instance file cannot be read and is skipped', { path, err: error });
      return undefined;
    });
  const found = await Promise.all(paths.map(async (path) => ({ path, instance: await read(path) })));
  return found.flatMap(({ path, instance }) => (instance ? [{ path, instance }] : []));
}

const isHere = ({ machine }: Instance, self: ProcessIdentity) => machine === undefined || machine === self.machine;

async function runsHere({ pid, start }: Pick<Instance, 'pid' | 'start'>): Promise<boolean> {
  return start === undefined ? processAlive(pid) : (await processStart(pid)) === start;
}

/**
 * Servers of a home, oldest first, except those known to be dead, whose files are deleted: of this machine immediately,
 * of another machine after a day, because its heartbeats cannot be aged with this machine's clock.
 */
export async function listInstances(home: string, log?: Logger): Promise<Instance[]> {
  const self = await thisProcess();
  const live: Instance[] = [];
  for (const { path, instance } of await readAll(home, log)) {
    const lives = isHere(instance, self) ? await runsHere(instance) : Date.now() - instance.heartbeat_at < FORGET_MS;
    if (lives) live.push(instance);
    else await rm(path, { force: true });
  }
  return live.sort((a, b) => a.started_at - b.started_at);
}

/** Servers of a home that commands may use: on this machine, of this version; oldest first. */
export async function sharedInstances(home: string, version: string): Promise<Instance[]> {
  const self = await thisProcess();
  const live = await listInstances(home);
  return live.filter((each) => each.machine === self.machine && each.host_version === version && each.shared === true);
}

export interface InstanceOptions {
  home: string;
  serverId: string;
  host: string;
  /** The requested port; `bound` replaces it. */
  port: number;
  version: string;
  /** Empty: none. */
  basePath?: string;
  certificate?: string | undefined;
  /** Milliseconds since the epoch. */
  startedAt: number;
  log: Logger;
  clock?: Clock;
}

/** Registers this process, deletes files of dead servers and renews the heartbeat until `close`. */
export async function registerInstance(options: InstanceOptions): Promise<InstanceEntry> {
  const { home, serverId, host, version, basePath, certificate, startedAt, log, clock = systemClock } = options;
  const path = join(directory(home), `${serverId}.json`);
  const self = await thisProcess();
  const watch = createHeartbeatWatch(clock);
  let { port } = options;
  let shared = false;
  let fd: number | undefined;
  let writing = Promise.resolve();
  let closed = false;

  const text = (heartbeat: number) => {
    const { machine, pid, start } = self;
    const instance: Instance = {
      server_id: serverId,
      pid,
      host,
      port,
      started_at: startedAt,
      heartbeat_at: heartbeat,
      host_version: version,
      machine,
      start,
      shared,
      ...(basePath ? { base_path: basePath } : {}),
      ...(certificate === undefined ? {} : { certificate }),
    };
    return JSON.stringify(instance);
  };

  /** Overwrites in place, which needs no free disk space: the text has a constant length for one port. */
  const heartbeat = createOwnHeartbeat((value, urgent) => {
    if (fd === undefined) return;
    if (fstatSync(fd).nlink === 0) {
      // Another server removed the file because it treated this one as dead.
      writeFileSync(path, text(value), { mode: 0o600 });
      reopen();
    } else {
      writeSync(fd, text(value), 0);
    }
    // Another machine may not see the write before it is synced.
    if (urgent) fdatasyncSync(fd);
    else fdatasync(fd, onSynced);
  }, clock);

  function onSynced(error: Error | null): void {
    if (error && fd !== undefined) log.warn('instance heartbeat not synced', { err: error });
  }

  function reopen(): void {
    const before = fd;
    fd = openSync(path, 'r+');
    if (before !== undefined) closeSync(before);
  }

  /** Serialized, so that no write restores the file after its removal. */
  function writeAnew(): Promise<void> {
    const written = writing.then(async () => {
      if (closed) return;
      await writeFileAtomic(path, text(clock.wall()));
      reopen();
      heartbeat.beat();
    });
    writing = written.catch(() => undefined);
    return written;
  }

  async function renew(): Promise<void> {
    heartbeat.beat();
    // Tracks heartbeats of other machines, so that their silence is known when their lease is requested.
    for (const { instance } of await readAll(home)) {
      if (!isHere(instance, self)) watch.alive(instance.server_id, instance.heartbeat_at);
    }
  }

  await mkdir(directory(home), { recursive: true, mode: 0o700 });
  await listInstances(home, log);
  await writeAnew();
  const forget = runAtExit(() => rmSync(path, { force: true }));
  const timer = setInterval(() => {
    renew().catch((error: unknown) => log.warn('instance heartbeat failed', { err: error }));
  }, HEARTBEAT_MS).unref();

  return {
    holder: {
      self: { server_id: serverId, ...self },
      async alive(owner) {
        if (owner.machine === self.machine) return runsHere(owner);
        const instance = await readInstance(join(directory(home), `${owner.server_id}.json`));
        return watch.alive(owner.server_id, instance?.heartbeat_at);
      },
      silences: heartbeat.silences,
    },
    bound(boundPort, isShared) {
      port = boundPort;
      shared = isShared;
      return writeAnew();
    },
    async close() {
      clearInterval(timer);
      closed = true;
      await writing;
      const last = fd;
      fd = undefined;
      if (last !== undefined) closeSync(last);
      await rm(path, { force: true });
      forget();
    },
  };
}
