/** REST calls about skills, and about the commands of plugins. */
import type { ActivateSkill, ContentPart, Message, Rest } from '@service-code/client';

type Calls = Pick<Rest, 'request'>;

const PAGE_SIZE = 100;
/** Limit for the search of a message: a page of messages may have megabytes of text. */
const MAX_PAGES = 20;

export const listSkills = async (rest: Calls, session_id: string) =>
  (await rest.request('GET /api/v1/sessions/{session_id}/skills', { path: { session_id } })).skills;

export const activateSkill = (rest: Calls, session_id: string, skill_name: string, body: ActivateSkill) =>
  rest.request('POST /api/v1/sessions/{session_id}/skills/{skill_name}:activate', {
    path: { session_id, skill_name },
    body,
  });

/** Sends a prompt with several skills; it cannot have an id, so it must not be repeated after a lost reply. */
export const promptWithSkills = (
  rest: Calls,
  session_id: string,
  { names, content }: { names: readonly string[]; content: ContentPart[] },
) =>
  rest.request('POST /api/v1/sessions/{session_id}/prompts', {
    path: { session_id },
    body: { skills: names.map((name) => ({ name })), content },
  });

/**
 * Reads the main agent's messages page by page until `find` returns a value for all messages so far, newest first.
 * Undefined if no message was found.
 */
export async function findInMessages<T>(
  rest: Calls,
  sessionId: string,
  find: (messages: readonly Message[]) => T | undefined,
): Promise<T | undefined> {
  const messages: Message[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const before_id = messages.at(-1)?.id;
    const query = { page_size: PAGE_SIZE, before_id };
    const { items, has_more } = await rest.request('GET /api/v1/sessions/{session_id}/messages', {
      path: { session_id: sessionId },
      query,
    });
    messages.push(...items);
    const found = find(messages);
    if (found !== undefined || !has_more) return found;
  }
  return undefined;
}
