/** Snapshots of workspaces: the facts that apply to sessions of a project folder. */
import type { AgentServices } from '#server/agent/contract/services.ts';
import { mapLimit } from '#server/async/map-limit.ts';
import type { McpConfig } from '#server/mcp/config/mcp-config.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import { isForModel } from '#server/skills/listing.ts';
import type { RuntimeInfo, WorkspaceSnapshot } from '#schema/rest/debug.ts';
import type { Workspace } from '#schema/rest/workspace.ts';
import type { AppServices } from './allow-lists.ts';

/** Snapshots that are taken concurrently. */
const CONCURRENT = 4;

export interface WorkspaceSnapshots {
  /** Reads the workspaces with loaded sessions, and those that were read by id. */
  loaded(): Promise<WorkspaceSnapshot[]>;
  /** Throws `workspace.not_found`. */
  of(id: string): Promise<WorkspaceSnapshot>;
}

export interface WorkspaceSnapshotsDeps {
  services: Pick<AppServices, 'sessions' | 'trust' | 'workspaces'>;
  agentServices(): Promise<Pick<AgentServices, 'lookAtProfiles' | 'readInstructions' | 'skills'>>;
  mcpConfig: Pick<McpConfig, 'workspace'>;
  runtime: RuntimeInfo;
}

/** Creates the service; reads nothing yet. */
export function createWorkspaceSnapshots(deps: WorkspaceSnapshotsDeps): WorkspaceSnapshots {
  const { mcpConfig, runtime } = deps;
  const { sessions, trust, workspaces } = deps.services;
  /** Workspaces that were read by id. */
  const read = new Set<string>();

  /** Names of the servers that apply to sessions in this directory; their configuration holds secrets. */
  async function mcpServers(root: string): Promise<string[]> {
    const servers = mcpConfig.workspace(root);
    try {
      return (await servers.load()).entries.map(({ name }) => name);
    } finally {
      servers.close();
    }
  }

  async function snapshot({ id, root, name, ...times }: Workspace): Promise<WorkspaceSnapshot> {
    const agents = await deps.agentServices();
    const [trusted, { sources }, instructions, skills, servers] = await Promise.all([
      trust.trusted(root),
      agents.lookAtProfiles({ cwd: root }),
      agents.readInstructions({ cwd: root }),
      agents.skills.look(root),
      mcpServers(root),
    ]);
    const runtimes = [runtime];
    return {
      metadata: {
        id,
        root,
        name,
        createdAt: Date.parse(times.created_at),
        lastOpenedAt: Date.parse(times.last_opened_at),
      },
      lifecycle: 'active',
      program: {
        workspaceId: id,
        binding: { workspaceId: id, runtimeId: LOCAL_RUNTIME },
        status: 'ready',
        ready: true,
        generation: runtime.generation,
        trusted,
        catalog: {
          skills: {
            total: skills.skills.size,
            invocable: [...skills.skills.values()].filter(isForModel).length,
            skipped: skills.skipped,
          },
          agentProfiles: new Set(sources.flatMap(({ profiles }) => profiles)).size,
          mcpServers: servers.length,
        },
        sources: {
          skills: skills.sources.map((source) => ({ ...source })),
          skillRoots: [...skills.roots],
          agentProfiles: sources.map(({ id: sourceId, priority, profiles }) => ({
            sourceId,
            priority,
            profiles: [...profiles],
          })),
          instructionPaths: instructions.paths,
          mcpServers: servers,
        },
        runtimes,
      },
      runtimes: { workspaceId: id, runtimes },
    };
  }

  return {
    async loaded() {
      const ids = new Set([...read, ...sessions.liveWorkspaceIds()]);
      const known = await workspaces.list();
      const byId = await workspaces.byId();
      const active = known.filter((workspace) => byId.get(workspace.id)?.ids.some((id) => ids.has(id)));
      return mapLimit(active, CONCURRENT, snapshot);
    },
    async of(id) {
      const workspace = await workspaces.get(id);
      const result = await snapshot(workspace);
      read.add(workspace.id);
      return result;
    },
  };
}
