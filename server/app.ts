/** The composition root: builds every service once, in dependency order. The only file that knows them all. */
import { createBan } from './auth/ban.ts';
import { createCredentials } from './auth/credentials.ts';
import { createGuard } from './auth/guard.ts';
import type { Guard } from './auth/guard.ts';
import { createHostCheck, isLoopbackBind } from './auth/hosts.ts';
import { openToken } from './auth/token.ts';
import { createConnections } from './events/connections.ts';
import type { Connections } from './events/types.ts';
import { openHome } from './home/home.ts';
import { registerInstance } from './home/instances.ts';
import { createMeta } from './home/meta.ts';
import { newUlid } from './ids.ts';
import type { Logger } from './log.ts';
import type { Meta } from './schema/meta.ts';
import { SERVER_VERSION } from './version.ts';

/** Startup options (part 1) after parsing. */
export interface AppOptions {
  /** Home directory, absolute. */
  home: string;
  host: string;
  /** Requested port; 0 takes any free one. */
  port: number;
  log: Logger;
  allowedHosts: string[];
  debugEndpoints: boolean;
  bypassAuth: boolean;
  webTitle: string | undefined;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
  /** Starts the scripted demo model and makes it the default. */
  demo: boolean;
  /** Read at every use, so that a changed variable counts. */
  env: () => NodeJS.ProcessEnv;
}

/** What an endpoint's `mounted` decides by (core.md §3.2, §1.6). */
export interface BindFacts {
  loopback: boolean;
  debugEndpoints: boolean;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
}

export interface App {
  readonly serverId: string;
  readonly options: AppOptions;
  readonly bind: BindFacts;
  readonly log: Logger;
  readonly guard: Guard;
  readonly connections: Connections;
  meta(): Meta;
  /** The home's token, for URLs shown to the user; undefined with `--dangerous-bypass-auth`. */
  token(): Promise<string | undefined>;
  /** To be called once the port is bound. */
  listening(port: number): Promise<void>;
  /** Asks whoever runs the server to stop it; `stopRequested` resolves. */
  requestStop(): void;
  readonly stopRequested: Promise<void>;
  /** Releases everything, last built first. */
  close(): Promise<void>;
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 58627,
  allowedHosts: [],
  debugEndpoints: false,
  bypassAuth: false,
  webTitle: undefined,
  allowRemoteShutdown: false,
  allowRemoteTerminals: false,
  demo: false,
  env: () => process.env,
} satisfies Partial<AppOptions>;

/** Options with the defaults of part 1 filled in. */
export function appOptions(given: Pick<AppOptions, 'home' | 'log'> & Partial<AppOptions>): AppOptions {
  return { ...DEFAULTS, ...given };
}

const listed = (text: string | undefined) => (text ?? '').split(',').flatMap((entry) => entry.trim() || []);

/** Opens the home and builds the services. Throws `StartError` for what the user can mend. */
export async function createApp(options: AppOptions): Promise<App> {
  const { home, host, port, log } = options;
  const env = options.env();
  const serverId = newUlid();
  const startedAt = Date.now();
  const bind: BindFacts = {
    loopback: isLoopbackBind(host),
    debugEndpoints: options.debugEndpoints,
    allowRemoteShutdown: options.allowRemoteShutdown,
    allowRemoteTerminals: options.allowRemoteTerminals,
  };

  await openHome(home);
  const token = await openToken(home);
  const credentials = createCredentials(token, env.SERVICE_CODE_PASSWORD);
  const hostCheck = createHostCheck({
    bindHost: host,
    allowedHosts: [...options.allowedHosts, ...listed(env.SERVICE_CODE_ALLOWED_HOSTS)],
  });
  const guard = createGuard({
    ban: bind.loopback ? undefined : createBan(),
    hostAllowed: env.SERVICE_CODE_DISABLE_HOST_CHECK === '1' ? () => true : hostCheck,
    listedOrigins: new Set(listed(env.SERVICE_CODE_CORS_ORIGINS)),
    credentials: options.bypassAuth ? undefined : credentials,
  });
  const instance = await registerInstance({ home, serverId, host, port, version: SERVER_VERSION, startedAt, log });
  const connections = createConnections();
  const meta = createMeta({
    serverId,
    startedAt,
    bypassAuth: options.bypassAuth,
    webTitle: options.webTitle,
    flags: () => ({}),
  });

  let requestStop = () => {};
  const stopRequested = new Promise<void>((resolve) => (requestStop = resolve));

  return {
    serverId,
    options,
    bind,
    log,
    guard,
    connections,
    meta,
    token: async () => (options.bypassAuth ? undefined : token.current()),
    listening: (boundPort) => instance.bound(boundPort),
    requestStop,
    stopRequested,
    async close() {
      await connections.close();
      await instance.close();
    },
  };
}
