/** The lists of a session on the server, which has them in memory only. */
import type { Rest } from '@service-code/client';
import { noLists, type SessionLists } from './lists.ts';

export interface ListsOnServer {
  /** The directories that the editor has added to the session. */
  readonly directories: readonly string[];
  /** Replaces both lists. */
  set(lists: SessionLists): Promise<void>;
  /** Sends both again if the server does not have them: another one on the address, or one that has unloaded the session. */
  restore(): Promise<void>;
  /** Records that the server has unloaded the session. */
  dropped(): void;
  /** Empties both. */
  clear(): Promise<void>;
}

export interface ListsLink {
  /** Id of the connected server. */
  serverId(): Promise<string>;
  /** Replaces the lists of a session on the server. */
  write(sessionId: string, lists: SessionLists): Promise<void>;
}

/** Replaces the lists of a session; its other metadata stays. */
export async function writeLists(rest: Pick<Rest, 'request'>, session_id: string, lists: SessionLists): Promise<void> {
  const body = { metadata: {}, ...lists };
  await rest.request('POST /api/v1/sessions/{session_id}/profile', { path: { session_id }, body });
}

/** `lists` were sent with the request that has created the session. */
export async function createListsOnServer(
  link: ListsLink,
  sessionId: string,
  lists: SessionLists = noLists,
): Promise<ListsOnServer> {
  let current = lists;
  /** The server that has them. */
  let owner: string | undefined = await link.serverId();

  async function write(next: SessionLists): Promise<void> {
    const server = await link.serverId();
    await link.write(sessionId, next);
    owner = server;
  }
  const isEmpty = () => current.mcp_servers.length === 0 && current.additional_dirs.length === 0;

  return {
    get directories() {
      return current.additional_dirs;
    },
    async set(next) {
      await write(next);
      current = next;
    },
    async restore() {
      if (isEmpty() || owner === (await link.serverId())) return;
      await write(current);
    },
    dropped: () => void (owner = undefined),
    async clear() {
      if (isEmpty()) return;
      await write(noLists);
      current = noLists;
    },
  };
}
