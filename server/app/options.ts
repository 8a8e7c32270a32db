/** What a server is started with. */
import { INSTRUCTIONS_MAX_AGE_MS } from '#server/agent/prompt/instructions.ts';
import type { Feature } from '#server/agent/contract/feature.ts';
import { systemClock, type Clock } from '#server/clock.ts';
import { features } from '#server/features/features.ts';
import type { Logger } from '#server/logging/log.ts';
import { systemNetwork, type Network } from '#server/net/network.ts';
import type { DocumentDrivers } from '#server/storage/documents.ts';

/** Limits on the time of requests and the number of connections. */
export interface HttpLimits {
  /** Milliseconds until the header block of a request must be complete. */
  headersMs: number;
  /** Milliseconds between two checks of that. */
  headersCheckMs: number;
  /** Milliseconds without a byte of a body that close its connection. */
  bodyIdleMs: number;
  /** Default: what the limit of descriptors allows. */
  maxConnections: number | undefined;
}

/** Milliseconds that programs may take which read a project for the file actions. */
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
  /** Requested port; 0 takes any free one. */
  port: number;
  /** The server log of `--log-level`. */
  log: Logger;
  allowedHosts: string[];
  debugEndpoints: boolean;
  bypassAuth: boolean;
  webTitle: string | undefined;
  allowRemoteShutdown: boolean;
  allowRemoteTerminals: boolean;
  /** What sessions can do beyond talking and calling tools; tests bring their own. */
  features: readonly Feature[];
  /** Drivers that documents stand on, where they are not files of the home. */
  documents: DocumentDrivers;
  /** Starts the scripted demo model and makes it the default. */
  demo: boolean;
  /** Of sessions and their agents; tests move it. */
  clock: Clock;
  /** What fetches of the model may reach; tests bring one whose public addresses are their own. */
  network: Network;
  /** How long the AGENTS.md files of a directory are not looked at again, in ms; tests shorten it. */
  instructionsMaxAgeMs: number;
  /** Tests shorten and lower them. */
  httpLimits: HttpLimits;
  /** Tests shorten them. */
  fileTimeouts: FileTimeouts;
  /** Read at every use, so that a changed variable counts. */
  env: () => NodeJS.ProcessEnv;
}

/** What an endpoint's `mounted` decides by: some exist on a loopback bind only, or when asked for. */
export interface BindFacts {
  loopback: boolean;
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
  features,
  documents: {},
  demo: false,
  clock: systemClock,
  network: systemNetwork,
  instructionsMaxAgeMs: INSTRUCTIONS_MAX_AGE_MS,
  httpLimits: { headersMs: 10_000, headersCheckMs: 2000, bodyIdleMs: 60_000, maxConnections: undefined },
  fileTimeouts: {},
  env: () => process.env,
} satisfies Partial<AppOptions>;

/** Options with the defaults filled in. */
export function appOptions(given: Pick<AppOptions, 'home' | 'log'> & Partial<AppOptions>): AppOptions {
  return { ...DEFAULTS, ...given };
}
