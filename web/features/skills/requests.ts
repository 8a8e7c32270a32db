/** REST calls about skills, and about the commands of plugins. */
import type { Message } from '#schema/rest/message.ts';
import type { ActivateSkill, SkillDescriptor } from '#schema/rest/skill.ts';
import type { Rest } from '../../client/rest.ts';

type Calls = Pick<Rest, 'request'>;

const at = (sessionId: string) => `sessions/${encodeURIComponent(sessionId)}`;
const PAGE_SIZE = 100;
/** Limit for the search of a message: a page of messages may have megabytes of text. */
const MAX_PAGES = 20;

export const listSkills = async (rest: Calls, sessionId: string) =>
  (await rest.request<{ skills: SkillDescriptor[] }>('GET', `${at(sessionId)}/skills`)).skills;

export const activateSkill = (rest: Calls, sessionId: string, name: string, body: ActivateSkill) =>
  rest.request<unknown>('POST', `${at(sessionId)}/skills/${encodeURIComponent(name)}:activate`, { body });

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
    const { items, has_more } = await rest.request<{ items: Message[]; has_more: boolean }>(
      'GET',
      `${at(sessionId)}/messages`,
      { query },
    );
    messages.push(...items);
    const found = find(messages);
    if (found !== undefined || !has_more) return found;
  }
  return undefined;
}
