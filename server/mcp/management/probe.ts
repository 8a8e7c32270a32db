/** Probes: short-lived connections that determine whether a server can be reached and what it offers. */
import { resolve } from 'node:path';
import { errorMessage } from '#server/errors/service-error.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import type { Spawn } from '#server/processes/spawn.ts';
import type { McpAuth } from '../auth/mcp-auth.ts';
import { prepareLaunch } from '../config/launch.ts';
import type { ServerDefinition } from '../config/layers.ts';
import { connectServer, McpConnectError, type ListedTool } from '../connect.ts';

const STARTUP_MS = 30_000;

export type ProbeOutcome =
  { kind: 'connected'; tools: readonly ListedTool[] } | { kind: 'needs-auth' } | { kind: 'failed'; error: string };

export interface Prober {
  /** Settles within the server's start-up time-out. `directory` is the working directory of a program. */
  probe(server: ServerDefinition, directory: string | undefined): Promise<ProbeOutcome>;
  /** Aborts the running probes. */
  close(): Promise<void>;
}

export interface ProberDeps {
  auth: Pick<McpAuth, 'authProviderFor'>;
  env(): NodeJS.ProcessEnv;
  spawn: Spawn;
  fetch: Fetch;
  network: Pick<Network, 'resolve'>;
  clientName(): string;
  /** The start-up time-out of servers without their own, in milliseconds. */
  startupMs(): number | undefined;
}

export function createProber({ auth, env, spawn, fetch, network, clientName, startupMs }: ProberDeps): Prober {
  const running = new Set<Promise<unknown>>();
  const ended = new AbortController();

  async function run(server: ServerDefinition, directory: string | undefined): Promise<ProbeOutcome> {
    try {
      const { config, env: variables } = await prepareLaunch(server, env());
      const connection = await connectServer(config, {
        root: resolve(directory ?? '.'),
        env: variables,
        spawn,
        fetch,
        network,
        clientName: clientName(),
        timeoutMs: config.startupTimeoutMs ?? startupMs() ?? STARTUP_MS,
        ...(config.transport !== 'stdio' && { authProvider: auth.authProviderFor(server.name, config.url) }),
        roots: async () => [],
        signal: ended.signal,
      });
      await connection.close();
      return { kind: 'connected', tools: connection.tools };
    } catch (error) {
      if (error instanceof McpConnectError && error.needsAuth) return { kind: 'needs-auth' };
      return { kind: 'failed', error: errorMessage(error) };
    }
  }

  return {
    async probe(server, directory) {
      const probing = run(server, directory);
      running.add(probing);
      try {
        return await probing;
      } finally {
        running.delete(probing);
      }
    },
    async close() {
      ended.abort(new Error('the server is shutting down'));
      await Promise.all(running);
    },
  };
}
