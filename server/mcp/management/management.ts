/** Management of the configured MCP servers, independent of sessions: list, change, test and sign-in. */
import { cutText } from '#server/text/truncate.ts';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import type { AuthStatus, Inspection, Locator, ManagedServer, TestOutcome } from '#schema/rest/mcp-management.ts';
import type { McpRemoteConfig, McpServerConfig, McpServerInput } from '#schema/config/mcp-server.ts';
import { isDeepStrictEqual } from 'node:util';
import type { BeginOutcome, McpAuth } from '../auth/mcp-auth.ts';
import { remoteAddress } from '../config/expand.ts';
import type { McpServerEntry, ServerDefinition } from '../config/layers.ts';
import type { McpConfig } from '../config/mcp-config.ts';
import { serverNotFound } from '../config/user-servers.ts';
import { requiresSignIn } from '../failures.ts';
import type { Prober, ProbeOutcome } from './probe.ts';
import { inspected, locatorOf, managed } from './view.ts';

const LOCAL_RUNTIME = 'local';
/** A server may list thousands of tools, each with pages of text. */
const MAX_OUTPUT_CHARS = 1_000_000;

export interface McpManagement {
  /**
   * All methods throw `validation.failed` if a file that they read is invalid, and `internal.error` if they need the
   * plugins and their registry cannot be read.
   */
  list(cwd: string | undefined): Promise<ManagedServer[]>;
  /** Throws `mcp.server_not_found`. */
  get(name: string, cwd: string | undefined): Promise<ManagedServer>;
  /** Resolves when sessions have applied it. Throws `validation.failed`: name empty, in use, or of a project. */
  add(input: McpServerInput, cwd: string | undefined): Promise<ManagedServer[]>;
  /** Same as `add`; throws `mcp.server_not_found` if the user's file has no server of that name. */
  replace(name: string, config: McpServerConfig, cwd: string | undefined): Promise<ManagedServer[]>;
  remove(name: string, cwd: string | undefined): Promise<ManagedServer[]>;
  /** Tests an entry, or a config that is not stored. */
  test(
    target: { name?: string | undefined; server?: McpServerInput | undefined },
    cwd: string | undefined,
  ): Promise<TestOutcome>;
  /** All entries, or those of the locators in their order. Throws `mcp.server_not_found`. */
  inspect(targets: readonly Locator[] | undefined, cwd: string | undefined): Promise<Inspection[]>;
  /** `verify`: true probes all servers that may need a sign-in, false none, undefined those of unknown status. */
  authStatuses(
    cwd: string | undefined,
    verify: boolean | undefined,
  ): Promise<{ name: string; authStatus: AuthStatus }[]>;
  /** Throws `validation.failed` if no sign-in applies, `mcp.server_not_found`, `mcp.oauth_failed` with the reason. */
  beginAuth(locator: Locator, cwd: string | undefined): Promise<BeginOutcome>;
  resetAuth(locator: Locator, cwd: string | undefined): Promise<void>;
}

const refuse = (message: string) => new ServiceError('validation.failed', message);

const isEnabled = ({ config }: McpServerEntry) => config.enabled !== false;

/** The status that follows from the config; undefined if the server may require a sign-in. */
function fixedStatus({ config }: McpServerEntry): AuthStatus | undefined {
  if (config.enabled === false || config.transport === 'stdio') return 'not-applicable';
  if (config.bearerTokenEnvVar !== undefined) return 'bearer-token';
  return hasStaticHeaders(config) ? 'not-applicable' : undefined;
}

const hasStaticHeaders = ({ headers, auth }: McpRemoteConfig) => headers !== undefined && auth !== 'oauth';

function assertNotShared(name: string, others: readonly McpServerEntry[]): void {
  if (others.some((other) => other.name === name && isEnabled(other))) {
    throw refuse(`MCP runtime name "${name}" is shared by multiple enabled servers`);
  }
}

function find(catalog: readonly McpServerEntry[], locator: Locator): McpServerEntry {
  const searched = locator.source === 'plugin' ? { ...locator, pluginId: locator.pluginId.toLowerCase() } : locator;
  const found = catalog.find((entry) => isDeepStrictEqual(locatorOf(entry), searched));
  if (found) return found;
  throw serverNotFound(locator.source === 'global' ? locator.name : `${locator.pluginId}/${locator.serverName}`);
}

export interface McpManagementDeps {
  config: Pick<McpConfig, 'catalog' | 'user' | 'reload'>;
  auth: Pick<McpAuth, 'begin' | 'grant' | 'reset'>;
  prober: Pick<Prober, 'probe'>;
  env(): NodeJS.ProcessEnv;
  now(): number;
}

/** Stateless: each call reads the files. */
export function createMcpManagement({ config: files, auth, prober, env, now }: McpManagementDeps): McpManagement {
  const list = async (cwd: string | undefined) => (await files.catalog(cwd)).map(managed);

  /** Returns the name in the form in which it is stored. */
  async function writable(given: string, cwd: string | undefined): Promise<string> {
    const name = given.trim();
    if (name === '') throw refuse('MCP server name cannot be empty');
    const defined = (await files.catalog(cwd)).find((entry) => entry.name === name && entry.source === 'global');
    if (defined && !defined.mutable) {
      throw refuse(`MCP server "${name}" is read-only: it is defined in ${defined.origin} — edit that file instead`);
    }
    return name;
  }

  async function written(cwd: string | undefined): Promise<ManagedServer[]> {
    await files.reload();
    return list(cwd);
  }

  /** Undefined if a placeholder of the address has no value. */
  function addressOf(entry: McpServerEntry) {
    try {
      return remoteAddress(entry, env());
    } catch {
      // A connection reports the reason to its caller.
      return undefined;
    }
  }

  async function grantOf(entry: McpServerEntry) {
    const server = addressOf(entry);
    return server ? auth.grant(server) : 'none';
  }

  async function inspectEntry(
    entry: McpServerEntry,
    catalog: readonly McpServerEntry[],
    cwd: string | undefined,
    checkedAt: number,
  ): Promise<Inspection> {
    const seen = inspected(entry);
    const fixed = fixedStatus(entry);
    if (fixed) return { ...seen, authStatus: fixed };
    if (catalog.some((other) => other !== entry && other.name === entry.name && isEnabled(other))) {
      const error = `MCP runtime name "${entry.name}" is not unique`;
      return { ...seen, authStatus: 'unavailable', checkedAt, error };
    }
    const had = (await grantOf(entry)) !== 'none';
    const outcome = await prober.probe(entry, cwd);
    if (outcome.kind === 'failed') return { ...seen, authStatus: 'unavailable', checkedAt, error: outcome.error };
    return { ...seen, authStatus: probedStatus(outcome, had), checkedAt };
  }

  async function statusOf(
    entry: McpServerEntry,
    cwd: string | undefined,
    verify: boolean | undefined,
  ): Promise<AuthStatus> {
    const fixed = fixedStatus(entry);
    if (fixed) return fixed;
    const grant = await grantOf(entry);
    const pinned = entry.config.transport !== 'stdio' && entry.config.auth === 'oauth';
    if (verify ?? !(grant !== 'none' || pinned)) {
      const outcome = await prober.probe(entry, cwd);
      if (outcome.kind !== 'failed') return probedStatus(outcome, grant !== 'none');
    }
    if (grant !== 'none') return grant === 'valid' ? 'oauth-authorized' : 'oauth-expired';
    return pinned ? 'oauth-required' : 'not-applicable';
  }

  /** Returns a remote entry whose name no other enabled entry has. */
  async function remote(locator: Locator, cwd: string | undefined) {
    const catalog = await files.catalog(cwd);
    const entry = find(catalog, locator);
    const { name, config } = entry;
    assertNotShared(
      name,
      catalog.filter((other) => other !== entry),
    );
    if (config.transport === 'stdio') throw refuse(`MCP server "${name}" does not use a remote transport`);
    return { entry, config };
  }

  return {
    list,

    async get(name, cwd) {
      const found = (await files.catalog(cwd)).find((entry) => entry.name === name);
      if (!found) throw serverNotFound(name);
      return managed(found);
    },

    async add({ name: given, ...config }, cwd) {
      await files.user.add(await writable(given, cwd), config);
      return written(cwd);
    },

    async replace(given, config, cwd) {
      await files.user.replace(await writable(given, cwd), config);
      return written(cwd);
    },

    async remove(given, cwd) {
      await files.user.remove(await writable(given, cwd));
      return written(cwd);
    },

    async test({ name, server }, cwd) {
      if (name !== undefined && server) {
        throw refuse('Pass either an MCP server name or an inline server config, not both');
      }
      if (server) {
        const { name: inline, ...config } = server;
        return tried({ name: inline, config }, cwd);
      }
      if (name === undefined) throw refuse('Pass an MCP server name or an inline server config');
      const all = (await files.catalog(cwd)).filter((entry) => entry.name === name);
      const [first, second] = all.filter(isEnabled);
      const entry = first ?? all[0];
      if (!entry) throw serverNotFound(name);
      if (second) assertNotShared(name, [second]);
      return tried(entry, cwd);
    },

    async inspect(targets, cwd) {
      const catalog = await files.catalog(cwd);
      const entries = targets ? targets.map((locator) => find(catalog, locator)) : catalog;
      const checkedAt = now();
      const once = new Map<McpServerEntry, Promise<Inspection>>();
      for (const entry of entries) {
        if (!once.has(entry)) once.set(entry, inspectEntry(entry, catalog, cwd, checkedAt));
      }
      const known = await Promise.all([...once].map(async ([entry, inspection]) => [entry, await inspection] as const));
      const found = new Map(known);
      return entries.flatMap((entry) => found.get(entry) ?? []);
    },

    async authStatuses(cwd, verify) {
      const catalog = await files.catalog(cwd);
      return Promise.all(
        catalog.map(async (entry) => ({ name: entry.name, authStatus: await statusOf(entry, cwd, verify) })),
      );
    },

    async beginAuth(locator, cwd) {
      const { entry, config } = await remote(locator, cwd);
      const { name } = entry;
      if (config.bearerTokenEnvVar !== undefined) throw refuse(`MCP server "${name}" uses a static bearer token`);
      if (hasStaticHeaders(config)) {
        throw refuse(`MCP server "${name}" uses static headers and is not marked for OAuth`);
      }
      return auth.begin(targetOf(entry));
    },

    async resetAuth(locator, cwd) {
      const { entry } = await remote(locator, cwd);
      const server = addressOf(entry);
      if (server) await auth.reset(server);
    },
  };

  function targetOf(entry: McpServerEntry) {
    try {
      const address = remoteAddress(entry, env());
      if (!address) throw new Error('the server is not remote');
      return address;
    } catch (error) {
      const reason = errorMessage(error);
      throw new ServiceError('mcp.oauth_failed', `failed to start OAuth flow for "${entry.name}": ${reason}`);
    }
  }

  async function tried(server: ServerDefinition, cwd: string | undefined): Promise<TestOutcome> {
    const { name, config } = server;
    if (config.transport === 'stdio' && (config.runtime_id ?? LOCAL_RUNTIME) !== LOCAL_RUNTIME) {
      throw refuse(`runtime ${config.runtime_id} does not exist`);
    }
    if (config.enabled === false) {
      return { success: false, output: `MCP server "${name}" finished with status disabled` };
    }
    const outcome = await prober.probe(server, cwd);
    return { success: outcome.kind === 'connected', output: cutText(outputOf(name, outcome), MAX_OUTPUT_CHARS) };
  }
}

function probedStatus({ kind }: Exclude<ProbeOutcome, { kind: 'failed' }>, had: boolean): AuthStatus {
  if (kind === 'connected') return had ? 'oauth-authorized' : 'not-applicable';
  return had ? 'oauth-expired' : 'oauth-required';
}

function outputOf(name: string, outcome: ProbeOutcome): string {
  if (outcome.kind === 'failed') return outcome.error;
  if (outcome.kind === 'needs-auth') return requiresSignIn(name);
  const tools = outcome.tools.map(({ name: tool, description }) =>
    description === '' ? `- ${tool}` : `- ${tool}: ${description}`,
  );
  return [`Connected to MCP server "${name}".`, `Available tools: ${tools.length}`, ...tools].join('\n');
}
