/** The startup options of a server. */
import { INSTRUCTIONS_MAX_AGE_MS } from '#server/agent/prompt/instructions.ts';
import type { Feature } from '#server/agent/contract/feature.ts';
import type { Capability } from '#server/capabilities/capability.ts';
import { shippedCapabilities } from '#server/capabilities/shipped.ts';
import { systemClock, type Clock } from '#server/clock.ts';
import { features } from '#server/features/features.ts';
import type { Logger } from '#server/logging/log.ts';
import type { Fetch } from '#server/net/http-client.ts';
import type { TrustedProxies } from '#server/net/trusted-proxies.ts';
import { systemNetwork, type Network } from '#server/net/network.ts';
import { pluginTimes, type PluginTimes } from '#server/plugins/plugins.ts';
import { searchTimes, type SearchTimes } from '#server/search/search.ts';
import type { DocumentDrivers } from '#server/storage/documents.ts';

/** Limits on the time of requests and the number of connections. */
export interface HttpLimits {
  /** Milliseconds until the header block of a request must be complete. */
  headersMs: number;
  /** Milliseconds between two checks of that limit. */
  headersCheckMs: number;
  /** Milliseconds without a byte of a request body after which its connection is closed. */
  bodyIdleMs: number;
  /** Default: as many as the limit of file descriptors allows. */
  maxConnections: number | undefined;
}

/** Time limits of the programs that read a project for the file actions, in milliseconds. */
export interface FileTimeouts {
  /** Default: `GIT_TIMEOUT_MS`. */
  gitMs?: number;
  /** Default: `GREP_TIMEOUT_MS`. */
  grepMs?: number;
}

/** Startup options after parsing. */
export interface AppOptions {
  /** Home directory, absolute. */
  home: string;
  host: string;
  /** Requested port; 0: any free one. */
  port: number;
  /** The server log, with the level of `--log-level`. */
  log: Logger;
  allowedHosts: string[];
  debugEndpoints: boolean;
  bypassAuth: boolean;
  webTitle: string | undefined;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
  /** Path of the server at a proxy, without a final slash; empty if it is the root of its origin. */
  basePath: string;
  /** The proxies whose forwarded headers have an effect; undefined: none. */
  trustedProxies: TrustedProxies | undefined;
  /** Absolute path of the certificate file; undefined: plain HTTP. */
  certificate: string | undefined;
  /** The features of sessions; tests pass their own. */
  features: readonly Feature[];
  /** The programs that clients may install; tests pass their own. */
  capabilities: readonly Capability[];
  /** Storage drivers of documents that are not files of the home. */
  documents: DocumentDrivers;
  /** Starts the scripted demo model and makes it the default. */
  demo: boolean;
  /** Clock of sessions and their agents; tests advance it. */
  clock: Clock;
  /** The addresses that fetches of the model may reach; tests declare their own servers as public. */
  network: Network;
  /** Requests for plugins and their catalog; default: the client of all other requests. Tests replace it. */
  pluginFetch: Fetch | undefined;
  /** Tests shorten these times. */
  pluginTimes: PluginTimes;
  /** Reads the snapshot of the model directory, undefined for none; default: that of the build. Tests replace it. */
  modelSnapshot: (() => Promise<Uint8Array<ArrayBuffer> | undefined>) | undefined;
  /** How long the AGENTS.md files of a directory are cached, in ms; tests shorten it. */
  instructionsMaxAgeMs: number;
  /** Tests shorten these times. */
  searchTimes: SearchTimes;
  /** Tests lower these limits. */
  httpLimits: HttpLimits;
  /** Tests shorten these timeouts. */
  fileTimeouts: FileTimeouts;
  /** Read at each use, so that a changed variable takes effect. */
  env: () => NodeJS.ProcessEnv;
}

/**
 * The facts by which an endpoint's `mounted` decides: some endpoints exist only where no other machine reaches them, or
 * with an option.
 */
export interface BindOptions {
  /** Whether other machines reach the connection: by the bind, through a proxy or through the tunnel. */
  exposed: boolean;
  /** Whether requests need no token. */
  bypassAuth: boolean;
  debugEndpoints: boolean;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
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
  basePath: '',
  trustedProxies: undefined,
  certificate: undefined,
  features,
  capabilities: shippedCapabilities,
  documents: {},
  demo: false,
  clock: systemClock,
  network: systemNetwork,
  pluginFetch: undefined,
  pluginTimes,
  modelSnapshot: undefined,
  instructionsMaxAgeMs: INSTRUCTIONS_MAX_AGE_MS,
  searchTimes,
  httpLimits: { headersMs: 10_000, headersCheckMs: 2000, bodyIdleMs: 60_000, maxConnections: undefined },
  fileTimeouts: {},
  env: () => process.env,
} satisfies Partial<AppOptions>;

/** Options with the defaults filled in. */
export function appOptions(given: Pick<AppOptions, 'home' | 'log'> & Partial<AppOptions>): AppOptions {
  return { ...DEFAULTS, ...given };
}
