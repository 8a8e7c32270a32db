/** The open requests of all agents. */
import type { Interaction } from '@service-code/client';
import { isObject } from './is-object.ts';
import type { SessionView } from './session-view.ts';

/** The requests of a kind, main agent's first, else oldest first. */
export function openRequests(
  { agents }: Pick<SessionView, 'agents'>,
  kind: Interaction['interactionKind'],
): { id: string; agentId: string; toolCallId: string | undefined; request: Record<string, unknown> }[] {
  return [...agents].flatMap(([agentId, { pending, interactions }]) =>
    [...pending].flatMap((id) => {
      const asked = interactions.get(id);
      if (asked?.interactionKind !== kind || !isObject(asked.request)) return [];
      return [{ id, agentId, toolCallId: asked.toolCallId, request: asked.request }];
    }),
  );
}
