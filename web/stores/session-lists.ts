/** The lists of the page, sessions and workspaces: read over REST, then kept current by global events. */
import { shallowRef } from 'vue';
import type { Client } from '../client/client.ts';
import { onGlobalResync } from '../client/global-resync.ts';
import type { EventFrame, Workspace } from '../client/types.ts';
import { applyToList, emptyList, listAnew, withPage } from '../state/session-list.ts';

const PAGE_SIZE = 50;

/** `report` receives the error of a read after missed events. */
export function createSessionLists(
  { rest, socket }: Pick<Client, 'rest' | 'socket'>,
  report: (error: unknown) => void,
) {
  const list = shallowRef(emptyList);
  const hasMore = shallowRef(false);
  const workspaces = shallowRef<Workspace[]>([]);

  /** Reads the first page again, with the events that arrive meanwhile on top. */
  async function read() {
    const meanwhile: EventFrame[] = [];
    const stop = socket.onEvent((frame) => void meanwhile.push(frame));
    try {
      const [page, known] = await Promise.all([rest.sessions({ page_size: PAGE_SIZE }), rest.workspaces()]);
      workspaces.value = known.items;
      list.value = listAnew(list.value, page.items, meanwhile);
      hasMore.value = page.has_more;
    } finally {
      stop();
    }
  }

  socket.onEvent((frame) => {
    list.value = applyToList(list.value, frame);
    if (frame.type === 'event.workspace.created' || frame.type === 'event.workspace.updated') {
      const { workspace } = frame.payload;
      workspaces.value = [...workspaces.value.filter((known) => known.id !== workspace.id), workspace];
    }
  });
  onGlobalResync(socket, () => read().catch(report));

  return {
    list,
    hasMore,
    workspaces,
    read,
    /** Adds the page after the last listed session. */
    async readMore() {
      const last = list.value.sessions.at(-1);
      if (!last) return;
      const page = await rest.sessions({ page_size: PAGE_SIZE, before_id: last.id });
      list.value = withPage(list.value, page.items);
      hasMore.value = page.has_more;
    },
  };
}
