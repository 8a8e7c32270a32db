/** Calls of the services' listed members, and views of what is loaded, for development tools. */
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { agentNotFound } from '#server/agent/agent.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import type { LiveSession } from '#server/sessions/live/session.ts';
import type { AgentBinding, Association, Channel, RuntimeInfo } from '#schema/rest/debug.ts';
import {
  agentList,
  appList,
  sessionList,
  type AgentScope,
  type AppServices,
  type SessionScope,
} from './allow-lists.ts';
import { callMember, type MemberName } from './call-member.ts';
import { PROPERTY, type AnyAllowList } from './listed.ts';
import {
  createWorkspaceSnapshots,
  type WorkspaceSnapshots,
  type WorkspaceSnapshotsDeps,
} from './workspace-snapshots.ts';

export interface Debug {
  /** The members that can be called, by service name. */
  channels(): Channel[];
  /** Calls a member of the server's services. Throws as `callMember`. */
  call(member: MemberName, given: unknown): Promise<unknown>;
  /** Calls a member of a loaded session's services. Throws also `session.not_found`. */
  callSession(sessionId: string, member: MemberName, given: unknown): Promise<unknown>;
  /** Calls a member of the services of an agent in a loaded session. Throws also `session.not_found`. */
  callAgent(sessionId: string, agentId: string, member: MemberName, given: unknown): Promise<unknown>;
  readonly workspaces: WorkspaceSnapshots;
  /** Returns the project of a loaded session. Throws `session.not_found`. */
  association(sessionId: string): Association;
  /** Returns the runtime of an agent in a loaded session. Throws `session.not_found`. */
  agentBinding(sessionId: string, agentId: string): Promise<AgentBinding>;
}

export interface DebugDeps extends Pick<WorkspaceSnapshotsDeps, 'agentServices' | 'mcpConfig'> {
  services: AppServices;
  serverId: string;
  clock: Clock;
}

/** Whether the server has these endpoints with this bind: they show too much for an open port. */
export const debugMounted = (bind: { exposed: boolean; debugEndpoints: boolean }): boolean =>
  !bind.exposed && bind.debugEndpoints;

const LISTS: Readonly<Record<Channel['scope'], AnyAllowList>> = {
  app: appList,
  session: sessionList,
  agent: agentList,
};

const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);

function channelsOf(scope: Channel['scope']): Channel[] {
  return Object.entries(LISTS[scope]).map(([name, { domain, members }]) => {
    const methods = Object.entries(members).map(([member, params = []]) => {
      const names = params === PROPERTY ? [] : params.map((listed) => listed.name);
      const kind = params === PROPERTY ? ('property' as const) : ('method' as const);
      return { name: member, kind, arity: names.length, params: names.join(', ') };
    });
    return { name, scope, domain, methods: methods.toSorted(byName) };
  });
}

/** Creates the service; loads nothing. */
export function createDebug(deps: DebugDeps): Debug {
  const { services, serverId, clock } = deps;
  const { sessions } = services;
  /** The machine of the server is always there, so it is as old as the process. */
  const local: RuntimeInfo = {
    runtimeId: LOCAL_RUNTIME,
    generation: serverId,
    status: 'ready',
    capabilities: ['files', 'processes'],
  };

  function call(scope: Channel['scope'], of: object, member: MemberName, given: unknown): Promise<unknown> {
    return callMember({ scope, list: LISTS[scope], services: of }, Object.values(LISTS), member, given, clock);
  }

  /** Throws `session.not_found` for a session that is not loaded. */
  async function inSession<T>(id: string, work: (session: LiveSession) => Promise<T>): Promise<T> {
    const done = await sessions.ifLoaded(id, async (session) => ({ result: await work(session) }));
    if (!done) throw notLoaded(id);
    return done.result;
  }

  return {
    channels: () => [...channelsOf('app'), ...channelsOf('session'), ...channelsOf('agent')].toSorted(byName),
    call: (member, given) => call('app', services, member, given),
    callSession: (sessionId, member, given) =>
      inSession(sessionId, (session) => {
        const { agents, context, log } = session;
        const { interactions, tasks } = context;
        const scope: SessionScope = { agents, interactions, log, session, tasks };
        return call('session', scope, member, given);
      }),
    callAgent: (sessionId, agentId, member, given) =>
      inSession(sessionId, ({ agents }) =>
        agents.use(agentId, (agent) => {
          const scope: AgentScope = { agent, binding: agent.context.config };
          return call('agent', scope, member, given);
        }),
      ),
    workspaces: createWorkspaceSnapshots({ ...deps, runtime: local }),
    association(sessionId) {
      const row = sessions.liveRow(sessionId);
      if (!row) throw notLoaded(sessionId);
      return { sessionId, workspaceId: row.workspaceId, cwd: row.cwd };
    },
    agentBinding: (sessionId, agentId) =>
      inSession(sessionId, async ({ agents, context, log }) => {
        if (!agents.has(agentId)) throw agentNotFound(agentId);
        const runtimeId = readContext(log.state.context, agentId).config.runtimeId ?? LOCAL_RUNTIME;
        const binding = { workspaceId: context.workspaceId, runtimeId };
        if (runtimeId !== LOCAL_RUNTIME) return { binding, available: false };
        return { binding, available: true, runtime: local };
      }),
  };
}

const notLoaded = (id: string) => new ServiceError('session.not_found', `session ${id} is not loaded`);
