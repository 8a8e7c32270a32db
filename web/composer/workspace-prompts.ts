/** Sources of the prompts that the composer recalls. */
import { MAIN_AGENT, type Rest, type Session } from '@service-code/client';

/** Prompts of other sessions are read from this number of them; of the rest, the last prompt is used. */
const READ_SESSIONS = 8;

/** The prompts of the session, then those of other sessions of its workspace, which are ordered from the newest. */
export function workspacePrompts(
  rest: Pick<Rest, 'request'>,
  { id, workspaceId, sessions }: { id: string; workspaceId: string | undefined; sessions: readonly Session[] },
): (() => Promise<readonly string[]>)[] {
  const promptsOf = (session: string) => async () => {
    const { agents } = await rest.request('GET /api/v1/sessions/{session_id}/transcript/user-messages', {
      path: { session_id: session },
      query: { agent_id: MAIN_AGENT },
    });
    return agents.flatMap(({ messages }) => messages.map(({ prompt }) => prompt)).toReversed();
  };
  const others = sessions.filter((other) => other.workspace_id === workspaceId && other.id !== id);
  return [
    promptsOf(id),
    ...others.slice(0, READ_SESSIONS).map((other) => promptsOf(other.id)),
    () => Promise.resolve(others.slice(READ_SESSIONS).map(({ last_prompt = '' }) => last_prompt)),
  ];
}
