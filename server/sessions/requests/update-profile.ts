/** Changes a session's title, metadata and settings of its main agent. */
import { DEFAULT_PROFILE } from '#server/agent/profiles/built-in.ts';
import type { AgentChange } from '#server/agent/contract/config.ts';
import type { Clock } from '#server/clock.ts';
import type { ModelChecks } from '#server/models/model-checks.ts';
import type { Caller } from '#schema/rest/caller.ts';
import type { AgentConfigRequest, ClientLists, Session } from '#schema/rest/session.ts';
import type { LiveSessions } from '../live/live-sessions.ts';
import { customMetadata } from '../index/session-header.ts';
import type { LiveSession } from '../live/session.ts';
import { checkClientLists, hasClientLists, replaceClientLists } from './client-lists.ts';

export interface ProfileUpdate extends ClientLists {
  title?: string | undefined;
  metadata?: Record<string, unknown> | undefined;
  agent_config?: AgentConfigRequest | undefined;
}

export interface ProfileDeps {
  live: Pick<LiveSessions, 'persist' | 'patch'>;
  models: ModelChecks;
  clock: Clock;
  /** The client that changes the permission mode. */
  by?: Caller | undefined;
}

/**
 * Applies the update member by member; members stored before a failure remain. Throws `validation.failed`,
 * `fs.path_not_found`, `fs.permission_denied`, `session.busy` and `persistence.failure`.
 */
export async function updateProfile(
  session: LiveSession,
  body: ProfileUpdate,
  { live, models, clock, by }: ProfileDeps,
): Promise<Session> {
  const { title, metadata, agent_config } = body;
  await checkClientLists(body);
  const changes = agent_config ? agentChanges(agent_config) : [];
  // No prompt binds the agent before a turn that a feature opens.
  if (agent_config && session.mainView().profile === undefined) {
    const opens = session.context.features.some((feature) => feature.opensTurn?.(agent_config));
    if (opens) changes.unshift(...agentChanges({ model: models.defaultModel() }));
  }
  if (title !== undefined || changes.length > 0) await session.log.claim();
  if (title !== undefined) {
    session.rename(title);
    live.persist(session.id);
  }
  const added = metadata ? customMetadata(metadata) : {};
  if (Object.keys(added).length > 0) {
    await live.patch(session.id, ({ custom }) => ({ custom: { ...custom, ...added }, updatedAt: clock.now() }));
  }
  for (const change of changes) {
    if (change.model !== undefined) {
      models.assertConfigured(change.model);
      // An agent that has no profile yet gets one with its model.
      const { profiles } = await session.context.services.lookAtProfiles(session.context);
      change.profile = profiles.get(DEFAULT_PROFILE);
    }
    const alias = session.mainView().model;
    if (change.thinking !== undefined && alias !== undefined)
      models.assertEffort(alias, change.thinking, 'agent_config.thinking');
    if (change.permission) await session.agents.setPermission(change.permission, by);
    else await session.agents.main.context.config.change(change);
  }
  if (agent_config) {
    const { main } = session.agents;
    for (const feature of session.context.features) await feature.configure?.(main.context, agent_config);
  }
  if (hasClientLists(body)) replaceClientLists(session, body);
  return session.view();
}

/** Returns the changes of `agent_config` in the order of their application; an empty model is ignored. */
function agentChanges({ model, thinking, permission_mode }: AgentConfigRequest): AgentChange[] {
  return [
    ...(model ? [{ model }] : []),
    ...(thinking === undefined ? [] : [{ thinking }]),
    ...(permission_mode ? [{ permission: permission_mode }] : []),
  ];
}
