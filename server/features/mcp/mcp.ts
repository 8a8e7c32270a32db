/**
 * MCP servers in a session: the servers of its workspace that it uses, their tools in its agents, and the events about
 * them.
 */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import { event } from '#server/journal/records.ts';
import { abortable } from '#server/async/abortable.ts';
import type { McpConfigProblem } from '#server/mcp/config/workspace-servers.ts';
import { ignoredConfigWarning } from '#server/project-files/ignored-config.ts';
import type { Mcp } from '#server/mcp/mcp.ts';
import type { McpServer } from '#server/mcp/server.ts';
import type { WorkspaceChange, WorkspaceMcp } from '#server/mcp/workspace-mcp.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import type { SessionWarning } from '#schema/rest/session.ts';
import { offeredTools, type Offer } from './offer.ts';
import { discoveryRecords } from './records.ts';

export interface SessionMcp extends LiveFeature {
  readonly workspace: WorkspaceMcp;
}

const warningOf = ({ message }: McpConfigProblem): SessionWarning => ({
  code: 'mcp-config-invalid',
  severity: 'warning',
  message,
});

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly mcp: Pick<Mcp, 'hold'>;
  }
}

function open(session: SessionContext, services: FeatureServices): SessionMcp {
  const { log } = session;
  const { workspace, release } = services.mcp.hold(session.cwd);
  /** Names of the servers at the session's first turn; servers added later are not used. */
  let own: ReadonlySet<string> | undefined;
  let offer: Offer | undefined;
  /** Messages of the published warnings. */
  let published: ReadonlySet<string> = new Set();
  const recording = new Set<string>();

  const isOwn = (server: McpServer) => own?.has(server.name) ?? server.state().status !== 'removed';

  /** Returns the tools; computed again only after a server's tools have changed. */
  function offered(): Offer {
    offer ??= offeredTools(workspace.registered.filter(isOwn));
    return offer;
  }

  /**
   * Whether events are recorded: only after the creation of the main agent, and by the process that writes the session.
   */
  const tells = () => log.claimed && !log.readOnly && session.agents.main.context.config.created;

  function onChange({ server, ...change }: WorkspaceChange): void {
    if (change.kind === 'tools') offer = undefined;
    if (!isOwn(server) || !tells()) return;
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

  const stop = workspace.onChange(onChange);

  return {
    workspace,
    tools: () => offered().tools,
    onTurnStart(_agent, signal) {
      if (!own) return begin(signal);
      publishWarnings();
      return undefined;
    },
    warnings,
    async onUnload() {
      stop();
      await release();
    },
  };
}

export const mcp: Feature<SessionMcp> = { name: 'mcp', open };
