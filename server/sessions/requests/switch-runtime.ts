/** The runtime that a session's main agent works on. */
import { ServiceError } from '#server/errors/service-error.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import type { RuntimeBinding } from '#schema/rest/session.ts';
import type { LiveSession } from '../live/session.ts';
import { runtimeOf } from '../reading/session-views.ts';

/**
 * Switches the main agent to the runtime from its next call on. Throws `runtime.not_found`, `session.busy` and
 * `persistence.failure`.
 */
export async function switchRuntime(session: LiveSession, runtimeId: string): Promise<RuntimeBinding> {
  const { workspace_id, runtime_id } = runtimeOf(session);
  if (runtimeId !== LOCAL_RUNTIME) {
    throw new ServiceError('runtime.not_found', `runtime ${runtimeId} does not exist in workspace ${workspace_id}`);
  }
  if (runtime_id !== runtimeId) {
    await session.log.claim();
    await session.agents.main.context.config.change({ runtimeId });
  }
  return runtimeOf(session);
}
