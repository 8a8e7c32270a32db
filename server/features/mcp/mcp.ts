/**
 * MCP servers in a session: the servers of its workspace that it uses, their tools in its agents, and the events about
 * them.
 */
import { isDeepStrictEqual } from 'node:util';
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import { event } from '#server/journal/records.ts';
import { abortable } from '#server/async/abortable.ts';
import type { McpConfigProblem } from '#server/mcp/config/workspace-servers.ts';
import { ignoredConfigWarning } from '#server/project-files/ignored-config.ts';
import type { Mcp, SessionServers } from '#server/mcp/mcp.ts';
import type { McpServer } from '#server/mcp/server.ts';
import type { WorkspaceChange } from '#server/mcp/workspace-mcp.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { McpServerInput } from '#schema/config/mcp-server.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import { offeredTools, type Offer } from './offer.ts';
import { discoveryRecords } from './records.ts';

export interface SessionMcp extends LiveFeature {
  /** The servers as clients see them: a server that a client has sent shadows a configured one of its name. */
  servers(): Promise<readonly McpServer[]>;
  /** See `WorkspaceMcp.restart`. */
  restart(name: string): Promise<void>;
}

const warningOf = ({ message }: McpConfigProblem): SessionWarning => ({
  code: 'mcp-config-invalid',
  severity: 'warning',
  message,
});

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly mcp: Pick<Mcp, 'hold' | 'forSession'>;
  }
}

function open(session: SessionContext, services: FeatureServices): SessionMcp {
  const { log } = session;
  const { workspace, release } = services.mcp.hold(session.cwd);
  /** Names of the servers at the session's first turn; servers added later are not used. */
  let own: ReadonlySet<string> | undefined;
  /** The servers that a client has sent. */
  let sent: SessionServers | undefined;
  /** A list of the client that holds from the next turn. */
  let waiting: readonly McpServerInput[] | undefined;
  /** The client's servers in force. Their names shadow configured ones. */
  let inForce: readonly McpServerInput[] = [];
  let shadowed: ReadonlySet<string> = new Set();
  let offer: Offer | undefined;
  /** Messages of the published warnings. */
  let published: ReadonlySet<string> = new Set();
  const recording = new Set<string>();

  const isPresent = (server: McpServer) => server.state().status !== 'removed';
  const isOwn = (server: McpServer) => !shadowed.has(server.name) && (own?.has(server.name) ?? isPresent(server));

  /** Returns the tools; computed again only after a server's tools have changed. */
  function offered(): Offer {
    offer ??= offeredTools([
      ...workspace.registered.filter(isOwn),
      ...(sent?.workspace.registered.filter(isPresent) ?? []),
    ]);
    return offer;
  }

  /**
   * Whether events are recorded: only after the creation of the main agent, and by the process that writes the session.
   */
  const tells = () => log.claimed && !log.readOnly && session.agents.main.context.config.created;

  function onChange({ server, ...change }: WorkspaceChange, isSent = false): void {
    if (change.kind === 'tools') offer = undefined;
    if (!(isSent || isOwn(server)) || !tells()) return;
    if (change.kind === 'status') {
      log.attempt([event(MAIN_AGENT, 'mcp.server.status', { server: change.state })]);
      return;
    }
    log.attempt([event(MAIN_AGENT, 'tool.list.updated', { reason: change.reason, serverName: server.name })]);
    record(server).catch((error: unknown) => session.report(`tools of an MCP server could not be recorded`, error));
  }

  /** Records the tool list of a server, each different list a single time. */
  async function record({ name, discovery }: McpServer): Promise<void> {
    if (!discovery || log.state.counters.toolHashes.has(discovery.hash) || recording.has(discovery.hash)) return;
    recording.add(discovery.hash);
    try {
      const { blob, bytes } = await log.keep(discovery.text);
      const lost = offered().collisions.get(name) ?? [];
      if (tells()) log.append(discoveryRecords(name, discovery, lost, { blob, bytes }));
    } finally {
      recording.delete(discovery.hash);
    }
  }

  function openSent(): SessionServers {
    const opened = services.mcp.forSession(session.cwd);
    opened.workspace.onChange((change) => onChange(change, true));
    return opened;
  }

  async function replaceSent(servers: readonly McpServerInput[], set: SessionServers): Promise<void> {
    inForce = servers;
    shadowed = new Set(servers.map(({ name }) => name));
    offer = undefined;
    await set.replace(servers);
    offer = undefined;
  }

  /** Closes the servers that are not in the client's new list; the others are connected at the next turn. */
  function closeAbsent(servers: readonly McpServerInput[]): void {
    const kept = inForce.filter((one) => servers.some((other) => isDeepStrictEqual(one, other)));
    if (!sent || kept.length === inForce.length) return;
    replaceSent(kept, sent).catch((error: unknown) => session.report('MCP servers of a client were not closed', error));
  }

  async function connectSent(servers: readonly McpServerInput[], signal: AbortSignal): Promise<void> {
    if (!sent && servers.length === 0) return;
    sent ??= openSent();
    await replaceSent(servers, sent);
    await abortable(sent.workspace.start(), signal);
    offer = undefined;
    for (const server of sent.workspace.registered) if (isPresent(server)) await record(server);
  }

  async function beforeTurn(signal: AbortSignal): Promise<void> {
    const servers = waiting;
    waiting = undefined;
    if (servers) await connectSent(servers, signal);
    if (own) publishWarnings();
    else await begin(signal);
  }

  async function begin(signal: AbortSignal): Promise<void> {
    await abortable(workspace.start(), signal);
    const servers = await workspace.list();
    own ??= new Set(servers.filter((server) => server.state().status !== 'removed').map(({ name }) => name));
    offer = undefined;
    for (const server of workspace.registered) if (isOwn(server)) await record(server);
    publishWarnings();
  }

  const warnings = (): SessionWarning[] => [
    ...workspace.problems().map(warningOf),
    ...workspace.ignored().map(ignoredConfigWarning),
  ];

  function publishWarnings(): void {
    const now = warnings();
    const fresh = now.filter(({ message }) => !published.has(message));
    published = new Set(now.map(({ message }) => message));
    if (fresh.length === 0) return;
    log.append(fresh.map(({ message, code }) => event(MAIN_AGENT, 'warning', { message, code })));
  }

  const stop = workspace.onChange((change) => onChange(change));

  return {
    async servers() {
      const [configured, ofClient] = await Promise.all([workspace.list(), sent?.workspace.list() ?? []]);
      return [...configured.filter(({ name }) => !shadowed.has(name)), ...ofClient.filter(isPresent)];
    },
    restart: (name) => (shadowed.has(name) && sent ? sent.workspace : workspace).restart(name),
    tools: () => offered().tools,
    onClientServers(servers) {
      waiting = servers;
      // A running turn keeps its tools.
      if (session.agents.idle()) closeAbsent(servers);
    },
    onTurnStart(_agent, signal) {
      if (!own || waiting) return beforeTurn(signal);
      publishWarnings();
      return undefined;
    },
    warnings,
    async onUnload() {
      stop();
      await Promise.all([release(), sent?.close()]);
    },
  };
}

export const mcp: Feature<SessionMcp> = { name: 'mcp', open };
