/**
 * The lists of the page, sessions, archived sessions and workspaces: read over REST, then kept current by global
 * events. Events are applied in batches, so that thousands of archived sessions cause a few changes of the list.
 */
import { shallowRef } from 'vue';
import {
  coalesced,
  onGlobalResync,
  type Client,
  type EventFrame,
  type Session,
  type Workspace,
} from '@service-code/client';
import { applyAllToList, withSingle } from '../state/session-list.ts';
import { createSessionPages, readOpen } from './session-pages.ts';

/** Events of this time are applied together. */
const BATCH_MS = 30;
/** The largest page of ids. */
const MOST_WAITING = 10_000;

export type SessionLists = ReturnType<typeof createSessionLists>;

/** `report` receives the error of a read after missed events. */
export function createSessionLists(
  { rest, socket }: Pick<Client, 'rest' | 'socket'>,
  report: (error: unknown) => void,
) {
  const open = createSessionPages(rest, {});
  const archived = createSessionPages(rest, { archived_only: true });
  const workspaces = shallowRef<Workspace[]>([]);
  /** Whether the archived sessions are displayed; they are read only then. */
  const isArchiveOpen = shallowRef(false);
  let pending: EventFrame[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** Ids of the sessions that wait for a person: those of later pages need an answer too. */
  async function readWaiting(): Promise<string[]> {
    const page = await rest.request('GET /api/v2/sessions', {
      query: { 'activity.status': ['approval', 'question'], fields: 'id,archived', page_size: MOST_WAITING },
    });
    return 'items' in page ? page.items.map(({ id }) => id) : [];
  }

  /** Reads the first page again, with the events that arrive meanwhile on top. */
  async function read() {
    const meanwhile: EventFrame[] = [];
    const stop = socket.onEvent((frame) => void meanwhile.push(frame));
    try {
      await Promise.all([
        open.read({
          // The first page is displayed also without them.
          others: () =>
            readWaiting().catch((error: unknown) => {
              report(error);
              return [];
            }),
          meanwhile: () => {
            // Older than the request, and so part of the reply.
            applyPending();
            return meanwhile;
          },
        }),
        rest.workspaces().then((known) => (workspaces.value = known.items)),
        isArchiveOpen.value ? archived.read() : undefined,
      ]);
    } finally {
      stop();
    }
  }

  const readArchived = coalesced(() => archived.read().catch(report));

  function applyPending() {
    clearTimeout(timer);
    timer = undefined;
    const frames = pending;
    pending = [];
    open.list.value = applyAllToList(open.list.value, frames);
    // A session of a page that was not read, or one that was restored, which no event announces.
    void include(frames.flatMap(({ type, session_id }) => (type === 'event.session.work_changed' ? [session_id] : [])));
    // No event has the archived sessions themselves.
    if (isArchiveOpen.value && frames.some(({ type }) => type === 'event.session.archived')) void readArchived();
  }

  socket.onEvent((frame) => {
    pending.push(frame);
    timer ??= setTimeout(applyPending, BATCH_MS);
    if (frame.type === 'event.workspace.created' || frame.type === 'event.workspace.updated') {
      const { workspace } = frame.payload;
      workspaces.value = [...workspaces.value.filter((known) => known.id !== workspace.id), workspace];
    }
  });
  onGlobalResync(socket, () => read().catch(report));

  /** Adds sessions that the read pages lack, such as pinned ones; archived and unknown ones are skipped. */
  async function include(ids: readonly string[]): Promise<void> {
    const listed = new Set(open.list.value.sessions.map(({ id }) => id));
    const missing = [...new Set(ids)].filter((id) => !listed.has(id));
    if (missing.length === 0) return;
    const archivedMeanwhile = new Set<string>();
    const stop = socket.onEvent((frame) => {
      if (frame.type === 'event.session.archived') archivedMeanwhile.add(frame.payload.sessionId);
    });
    for (const id of missing) {
      const [session] = await readOpen(rest, [id]);
      if (session && !archivedMeanwhile.has(id)) open.list.value = withSingle(open.list.value, session);
    }
    stop();
  }

  const find = (id: string | undefined): Session | undefined =>
    [open, archived].flatMap(({ list }) => list.value.sessions.find((session) => session.id === id) ?? [])[0];

  return {
    list: open.list,
    hasMore: open.hasMore,
    archived,
    isArchiveOpen,
    workspaces,
    read,
    readMore: open.readMore,
    /** Displays the archived sessions, which are read for it, or hides them. */
    async showArchive(isShown: boolean): Promise<void> {
      isArchiveOpen.value = isShown;
      if (isShown) await readArchived();
    },
    /** A session that the page has. */
    find,
    /** Removes sessions from a list that they have just left. */
    drop(from: 'open' | 'archived', ids: ReadonlySet<string>): void {
      applyPending();
      (from === 'open' ? open : archived).drop(ids);
    },
    include,
  };
}
