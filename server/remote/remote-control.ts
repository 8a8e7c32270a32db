/**
 * Remote control of this machine: states of the tunnel, operations on it, and the devices of the account. Operations run
 * one at a time; reading the status does not wait for them.
 */
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Account } from '#server/account/account.ts';
import type { Identity } from '#server/account/identity.ts';
import type { LogoutRemoteControl, RemoteLogout } from '#server/account/logout.ts';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import type { Clock } from '#server/clock.ts';
import { errorMessage, ServiceError } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import { once } from '#server/memo/once.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { AcceptConnection, ConnectionFacts } from '#server/net/connection-facts.ts';
import type { Documents } from '#server/storage/documents.ts';
import type { LeaseHolder } from '#server/storage/lease.ts';
import type { RemoteDevices, RemoteStatus } from '#schema/rest/remote-control.ts';
import { CloudRequestError, createCloudClient, type CapturedSession } from './cloud-client.ts';
import { startHost, type Host, type HostFailure } from './host.ts';
import { createRemoteLocks, type LockOwner, type RemoteLock } from './lock.ts';
import { certificateOf, requestStop } from './other-holder.ts';
import { createRegistry } from './registry.ts';
import { atMost } from './tunnel.ts';

/** A start is answered after this time, connected or not. */
const ANSWER_MS = 15_000;
/** Another server has this time to release the lock. */
const YIELD_MS = 10_000;
const YIELD_RETRY_MS = 100;
/** Limit of the stop when the server stops. */
const CLOSE_MS = 3000;
/** Statuses of the relay that are the fault of the request. */
const INVALID = new Set([400, 404, 422]);

export interface RemoteControl extends LogoutRemoteControl {
  status(): Promise<RemoteStatus>;
  /**
   * Starts the tunnel; resolves when it is connected, at the latest after 15 s. Throws `validation.failed` for a bind on
   * which it is not allowed, `auth.token_missing`, `auth.token_unauthorized`, `remote_control.already_running`, and
   * `internal.error` for a final failure.
   */
  start(): Promise<RemoteStatus>;
  /** Stops the tunnel or its start. Does nothing if another server hosts it. */
  stop(): Promise<RemoteStatus>;
  /** The status that a `stop` reports which runs after the reply. */
  announceStop(): Promise<RemoteStatus>;
  /** All functions for devices throw as `start` for the login; `validation.failed` and `internal.error` for the cloud's. */
  devices(): Promise<RemoteDevices>;
  rename(id: string, alias: string): Promise<void>;
  /** For this device: stops the tunnel first, also that of another server of this home. */
  deactivate(id: string): Promise<void>;
  remove(id: string): Promise<void>;
  /**
   * Whether a change of this device would cut the connection of its request: it runs after the reply then. Throws as
   * the change for the login.
   */
  mustFollowReply(id: string, facts: ConnectionFacts): Promise<boolean>;
  /** Stops the tunnel within 3 s; the device stays active. */
  close(): Promise<void>;
}

export interface RemoteControlDeps {
  home: string;
  serverId: string;
  documents: Documents;
  holder: LeaseHolder;
  account: Account;
  identity: Identity;
  /** Must not follow redirects. */
  fetch: Fetch;
  /** Why this server must not be reachable through a relay. */
  refusal: string | undefined;
  /** Origin under which this machine reaches the server. */
  localOrigin(): string;
  /** The home's token. */
  token(): Promise<string>;
  acceptConnection: AcceptConnection;
  clock: Clock;
  log: Logger;
}

interface Hosting {
  host: Host;
  lock: RemoteLock;
  /** Resolves after the lock was released because the host has ended without a stop. */
  failed: Promise<HostFailure | undefined>;
}

/** Creates the service; nothing is read or requested before its first use. */
export function createRemoteControl(deps: RemoteControlDeps): RemoteControl {
  const { account, identity, clock, log, refusal } = deps;
  const { deviceId } = identity;
  const headers = () => identity.headers();
  const clientVersion = (headers()['User-Agent'] ?? '').split(' ')[0] ?? '';
  const locks = createRemoteLocks({ ...deps, deviceId });
  const cloud = createCloudClient({ ...deps, headers });
  const registry = createRegistry(cloud);
  const operations = createSerialQueue();
  let hosting: Hosting | undefined;
  let isStopping = false;
  let isClosed = false;
  let lastError: string | undefined;
  /** Another server owned the lock at the last look. */
  let hadOwner = false;

  async function status(): Promise<RemoteStatus> {
    const device = { device_id: deviceId, device_name: hostname() };
    if (isStopping) return { enabled: false, state: 'stopping', ...device };
    if (hosting) {
      const { state, url, error } = hosting.host.status();
      return {
        enabled: true,
        state,
        ...device,
        ...(url !== undefined && { url }),
        ...(error !== undefined && { error }),
      };
    }
    const owner = await locks.owner();
    if (!owner && hadOwner) lastError = undefined;
    hadOwner = owner !== undefined;
    return {
      enabled: false,
      state: 'off',
      ...device,
      ...(lastError !== undefined && { error: lastError }),
      ...(owner?.purpose === 'tunnel' && { conflict: owner.conflict }),
    };
  }

  function alreadyRunning({ conflict, purpose }: LockOwner): ServiceError {
    hadOwner = true;
    const message = `Remote control is already running in process ${conflict.pid}`;
    // A server that deactivates the device has no address.
    const url = purpose === 'tunnel' ? conflict.url : '';
    return new ServiceError('remote_control.already_running', message, { details: { ...conflict, url } });
  }

  async function begin(): Promise<Hosting> {
    const slot = await cloud.checkLogin();
    const taken = await locks.acquire('tunnel');
    if ('owner' in taken) throw alreadyRunning(taken.owner);
    const { lock } = taken;
    const host = startHost({
      ...deps,
      lock,
      cloud,
      headers,
      deviceId,
      clientVersion,
      async register(signal) {
        const registered = await registry.register(
          {
            device_id: deviceId,
            alias: hostname(),
            platform: process.platform,
            client_version: clientVersion,
            local_base_url: deps.localOrigin(),
            instance_id: deps.serverId,
          },
          signal,
        );
        account.noteUse(registered.tunnelUrl);
        return registered;
      },
      async onRegistered(url) {
        await lock.describe('tunnel', url);
        await locks.mark(slot.key);
      },
    });
    const started: Hosting = { host, lock, failed: host.ended.then((failure) => failure && forget(started, failure)) };
    return started;
  }

  /** A host has ended without a stop. */
  function forget(ended: Hosting, failure: HostFailure): Promise<HostFailure | undefined> {
    return operations.run(async () => {
      // It was stopped at the same time.
      if (hosting !== ended) return undefined;
      if (failure.unregistered) await locks.unmark().catch(warnOf('the mark of the registration was not removed'));
      await ended.lock.release().catch(warnOf('the lock of remote control was not released'));
      hosting = undefined;
      lastError = failure.error;
      return failure;
    });
  }

  const warnOf = (message: string) => (error: unknown) => log.warn(message, { err: error });

  /** Stops the host and returns its lock, which the caller releases; runs as an operation. */
  async function takeDown(graceMs?: number): Promise<RemoteLock | undefined> {
    if (!hosting) return undefined;
    const { host, lock } = hosting;
    isStopping = true;
    await host.stop(graceMs);
    hosting = undefined;
    lastError = undefined;
    return lock;
  }

  async function release(lock: RemoteLock | undefined): Promise<void> {
    try {
      await lock?.release();
    } catch (error) {
      throw new ServiceError('internal.error', `The lock was not released: ${errorMessage(error)}`, { cause: error });
    } finally {
      isStopping = false;
    }
  }

  const stopHost = async (graceMs?: number) => release(await takeDown(graceMs));

  /** Acquires the lock for work on this device; asks the server that hosts the tunnel to stop. */
  async function acquireLock(): Promise<RemoteLock> {
    const end = performance.now() + YIELD_MS;
    for (let isAsked = false; ;) {
      const taken = await locks.acquire('maintenance');
      if ('lock' in taken) return taken.lock;
      const { purpose, conflict } = taken.owner;
      if (performance.now() > end) {
        const message = `The server of process ${conflict.pid} did not stop remote control in time`;
        throw new ServiceError('internal.error', message);
      }
      if (purpose === 'tunnel' && conflict.local_origin !== '' && !isAsked) {
        isAsked = true;
        const [token, certificate] = await Promise.all([deps.token(), certificateOf(deps.home, conflict)]);
        await requestStop(conflict, { token, certificate });
      } else await delay(YIELD_RETRY_MS);
    }
  }

  /** Changes the registration of a device; that of this one while no server of the home hosts its tunnel. */
  async function changeDevice(id: string, change: (id: string) => Promise<void>): Promise<void> {
    await cloud.checkLogin();
    if (id !== deviceId) return change(id);
    await operations.run(async () => {
      const own = await takeDown();
      const lock = own ?? (await acquireLock());
      try {
        await own?.describe('maintenance', '');
        await change(id);
        await locks.unmark();
      } finally {
        await release(lock);
      }
    });
  }

  /** The device is deactivated before its login ends, unless there is nothing to clean up at the relay. */
  async function deactivateBeforeLogout(): Promise<void> {
    const login = await account.managedLogin();
    if (!login || (await account.tokens.state(login.slot.key)).state !== 'valid' || !(await locks.isMarked())) return;
    try {
      await registry.deactivate(deviceId);
    } catch (error) {
      const isDone = error instanceof CloudRequestError && error.status === 404;
      // A login that the cloud refuses needs no cleaning up.
      const isRefused = error instanceof ServiceError && error.name.startsWith('auth.');
      if (!isDone && !isRefused) throw error;
    }
    await locks.unmark();
  }

  /** Ends what a logout must not leave; the lock is kept until `release`, unless this server hosts the tunnel. */
  async function endBeforeLogout() {
    let session: CapturedSession | undefined;
    const hosted = hosting;
    const lock = hosted ? undefined : await acquireLock();
    try {
      if (lock) await deactivateBeforeLogout();
    } catch (error) {
      await lock?.release();
      throw error;
    }
    return {
      forgetSession() {
        session = cloud.capture();
      },
      release: async () => lock?.release().catch(warnOf('the lock of remote control was not released')),
      async afterReply() {
        if (hosted) {
          if (session) await registry.deactivateWith(session, deviceId);
          await locks.unmark().catch(warnOf('the mark of the registration was not removed'));
          const stopped = operations.run(() => (hosting === hosted ? stopHost() : Promise.resolve()));
          await stopped.catch(warnOf('remote control was not stopped'));
        }
        if (session) await cloud.finish(session, 'DELETE', '/session');
      },
    };
  }

  /** Other operations wait until the logout has ended or is about to be answered. */
  function beginLogout(): Promise<RemoteLogout> {
    return new Promise((resolve, reject) => {
      const run = async () => {
        const { release: releaseLock, afterReply, forgetSession } = await endBeforeLogout();
        await new Promise<void>((done) => {
          const release = once(() => releaseLock().finally(done));
          resolve({
            forgetSession,
            beforeReply: release,
            afterReply: () => release().then(afterReply),
            abandon: release,
          });
        });
      };
      operations.run(run).catch((error: unknown) => reject(internal(error)));
    });
  }

  return {
    status,
    async start() {
      const until = clock.now() + ANSWER_MS;
      let mine: Hosting | undefined;
      try {
        if (refusal !== undefined) throw new ServiceError('validation.failed', refusal);
        await operations.run(async () => {
          if (isClosed) throw new ServiceError('internal.error', 'The server is shutting down');
          if (hosting) return;
          mine = await begin();
          hosting = mine;
          lastError = undefined;
        });
      } catch (error) {
        lastError = errorMessage(error);
        throw error;
      }
      if (!mine) return status();
      const { host, failed } = mine;
      const settled = host.connected.then(() => (host.status().state === 'on' ? undefined : failed));
      const failure = await orUndefined(clock, until - clock.now(), settled);
      if (failure?.error !== undefined) {
        if (failure.cause instanceof ServiceError) throw failure.cause;
        throw new ServiceError('internal.error', failure.error, { cause: failure.cause });
      }
      // A stop has cancelled the start: it reports the state after it.
      if (isStopping) await operations.settled();
      return status();
    },
    async stop() {
      await operations.run(() => stopHost());
      return status();
    },
    announceStop: async () => {
      const now = await status();
      const { device_id, device_name } = now;
      return now.enabled ? { enabled: false, state: 'stopping', device_id, device_name } : now;
    },
    devices: () => translated(registry.list()),
    rename: (id, alias) => translated(registry.rename(id, alias)),
    deactivate: (id) => translated(changeDevice(id, registry.deactivate)),
    remove: (id) => translated(changeDevice(id, registry.remove)),
    async mustFollowReply(id, { kind }) {
      if (id !== deviceId || kind !== 'tunnel') return false;
      await translated(cloud.checkLogin());
      return true;
    },
    beginLogout,
    async close() {
      isClosed = true;
      const stopped = operations.run(() => stopHost()).catch(warnOf('remote control was not stopped'));
      await atMost(clock, CLOSE_MS, stopped);
    },
  };
}

/** The result of the work; undefined if it takes longer than `ms`. */
async function orUndefined<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T | undefined> {
  let result: T | undefined;
  await atMost(
    clock,
    Math.max(ms, 0),
    work.then((done) => (result = done)),
  );
  return result;
}

/** Errors of the cloud, as the endpoints of devices answer them. */
async function translated<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CloudRequestError && INVALID.has(error.status ?? 0)) {
      throw new ServiceError('validation.failed', error.message, { cause: error });
    }
    throw error instanceof CloudRequestError ? internal(error) : error;
  }
}

const internal = (error: unknown): ServiceError =>
  error instanceof ServiceError && error.name === 'internal.error'
    ? error
    : new ServiceError('internal.error', errorMessage(error), { cause: error });
