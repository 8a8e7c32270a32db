/** Hosts the tunnel of this device: registers it, connects, and connects again until it is stopped or fails finally. */
import { finished } from 'node:stream/promises';
import type { Clock } from '#server/clock.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Logger } from '#server/logging/log.ts';
import type { AcceptConnection } from '#server/net/connection-facts.ts';
import type { CloudClient } from './cloud-client.ts';
import type { RemoteLock } from './lock.ts';
import { createReconnect, type Reaction } from './reconnect.ts';
import type { Registered } from './registry.ts';
import { openTunnel, type Tunnel, type TunnelEnd } from './tunnel.ts';

/** The lock went to another server. */
const LOCK_LOST = 'Another server of this home has taken over remote control';

export interface HostStatus {
  state: 'starting' | 'on';
  url: string | undefined;
  error: string | undefined;
}

/** The reason why a host has ended without a stop. */
export interface HostFailure {
  /** Undefined: the user has stopped it at the relay. */
  error: string | undefined;
  cause: unknown;
  /** The relay does not list the device as active any more. */
  unregistered: boolean;
}

export interface Host {
  status(): HostStatus;
  /** Resolves at the first WELCOME; also when the host has ended before. */
  readonly connected: Promise<void>;
  /** Resolves when the host has ended: to undefined after `stop`. */
  readonly ended: Promise<HostFailure | undefined>;
  /** Ends requests and waits; closes the tunnel as `Tunnel.stop`. */
  stop(graceMs?: number): Promise<void>;
}

export interface HostDeps {
  lock: RemoteLock;
  cloud: Pick<CloudClient, 'drop'>;
  /** Registers the device at the relay. */
  register(signal: AbortSignal): Promise<Registered>;
  /** Called after each registration. */
  onRegistered(url: string): Promise<void>;
  headers(): Record<string, string>;
  deviceId: string;
  serverId: string;
  clientVersion: string;
  acceptConnection: AcceptConnection;
  clock: Clock;
  log: Logger;
  random?: (() => number) | undefined;
}

/** Starts to connect. The caller owns the lock, before and after. */
export function startHost(deps: HostDeps): Host {
  const { lock, cloud, clock, log } = deps;
  const stopped = new AbortController();
  const { signal } = stopped;
  const reconnect = createReconnect(clock.now, deps.random);
  let status: HostStatus = { state: 'starting', url: undefined, error: undefined };
  let tunnel: Tunnel | undefined;
  let stopTunnel = (one: Tunnel) => one.stop();
  let isLockLost = false;
  let onConnected: () => void = () => undefined;
  const connected = new Promise<void>((resolve) => (onConnected = resolve));

  function fence(): void {
    try {
      lock.fence();
    } catch (error) {
      isLockLost = true;
      throw error;
    }
  }

  async function connect(): Promise<TunnelEnd> {
    fence();
    const { url, tunnelUrl, ticket } = await deps.register(signal);
    fence();
    await deps.onRegistered(url);
    signal.throwIfAborted();
    tunnel = await openTunnel({
      url: tunnelUrl,
      ticket,
      headers: deps.headers(),
      hello: { device_id: deps.deviceId, instance_id: deps.serverId, client_version: deps.clientVersion },
      clock,
      onWelcome() {
        status = { state: 'on', url, error: undefined };
        onConnected();
      },
      onStream: (stream, { remote_addr: remoteAddress, ...facts }) =>
        deps.acceptConnection(stream, {
          kind: 'tunnel',
          remoteAddress,
          ...facts,
          async flushed() {
            await finished(stream, { readable: false }).catch(() => undefined);
            await tunnel?.flushed();
          },
        }),
      onTick: fence,
    });
    // The stop came while the client was loaded.
    if (signal.aborted) await stopTunnel(tunnel);
    const end = await tunnel.ended;
    tunnel = undefined;
    return end;
  }

  async function attempt(): Promise<Reaction> {
    try {
      const end = await connect();
      return reconnect.afterEnd(end);
    } catch (error) {
      return reconnect.afterFailure(error);
    }
  }

  async function run(): Promise<HostFailure | undefined> {
    while (!signal.aborted) {
      const reaction = await attempt();
      if (signal.aborted) break;
      if (isLockLost) return { error: LOCK_LOST, cause: undefined, unregistered: false };
      if (reaction.kind === 'off') {
        const { error, cause, unregistered = false } = reaction;
        return { error, cause, unregistered };
      }
      const { error, waitMs, dropSession } = reaction;
      log.info('remote control is not connected', { reason: error, retry_in_ms: Math.round(waitMs) });
      status = { state: 'starting', url: status.url, error };
      if (dropSession) cloud.drop();
      await pause(clock, waitMs, signal);
    }
    return undefined;
  }

  const ended = run()
    .catch((error: unknown) => {
      log.error('remote control has failed', { err: error });
      return { error: errorMessage(error), cause: error, unregistered: false };
    })
    .finally(onConnected);

  return {
    status: () => status,
    connected,
    ended,
    async stop(graceMs) {
      stopTunnel = (one) => one.stop(graceMs);
      stopped.abort(new Error('remote control was stopped'));
      if (tunnel) await stopTunnel(tunnel);
      await ended;
    },
  };
}

/** Resolves after `ms`, or at the abort. */
function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const settle = () => {
      cancel();
      signal.removeEventListener('abort', settle);
      resolve();
    };
    const cancel = clock.setTimeout(settle, ms);
    signal.addEventListener('abort', settle, { once: true });
    if (signal.aborted) settle();
  });
}
