/** The session list as a pure fold over pages and global events. */
import type { EventFrame, Session, Workspace } from '@service-code/client';

export interface SessionList {
  sessions: Session[];
  /** The newest applied event of each session: a replay sends older ones again. */
  seen: Record<string, number>;
  /** Ids of sessions that were read individually: the ones before them in the order may be missing. */
  single: ReadonlySet<string>;
}

export interface SessionGroup {
  id: string;
  name: string;
  root: string;
  sessions: Session[];
}

export const emptyList: SessionList = { sessions: [], seen: {}, single: new Set() };

type Work = Pick<Session, 'busy' | 'main_turn_active' | 'pending_interaction' | 'last_turn_reason'>;

/** A session with the members of `event.session.work_changed`; a missing outcome removes the old one. */
export function withWork(session: Session, work: Work): Session {
  const { busy, main_turn_active, pending_interaction, last_turn_reason } = work;
  const next: Session = { ...session, busy, main_turn_active, pending_interaction };
  if (last_turn_reason) next.last_turn_reason = last_turn_reason;
  else delete next.last_turn_reason;
  return next;
}

/** Newest first, ties by id. */
function ordered(sessions: Session[]): Session[] {
  const byId = (a: Session, b: Session) => (a.id < b.id ? 1 : -1);
  return sessions.toSorted((a, b) =>
    a.updated_at === b.updated_at ? byId(a, b) : a.updated_at < b.updated_at ? 1 : -1,
  );
}

/** Adds a page, which replaces the entries of its sessions. */
export function withPage(list: SessionList, page: Session[]): SessionList {
  const ids = new Set(page.map((session) => session.id));
  return {
    ...list,
    sessions: ordered([...list.sessions.filter((session) => !ids.has(session.id)), ...page]),
    single: new Set([...list.single].filter((id) => !ids.has(id))),
  };
}

/**
 * Rebuilds the list from its first page, after missed events. Events that arrived during the request may be newer than
 * the page and are applied on top; they are idempotent, since each contains all that it changes. `others` are sessions
 * of later pages that were read individually.
 */
export function listAnew(
  list: SessionList,
  page: Session[],
  meanwhile: EventFrame[],
  others: readonly Session[] = [],
): SessionList {
  const read = others.reduce((known, session) => withSingle(known, session), withPage(emptyList, page));
  const { sessions, single } = applyAllToList(read, meanwhile);
  return { sessions, seen: list.seen, single };
}

/** Applies a global event; others change nothing. */
export const applyToList = (list: SessionList, frame: EventFrame): SessionList => applyAllToList(list, [frame]);

/** Applies events in their order; the list is sorted a single time. Without an effect, the list is the same object. */
export function applyAllToList(list: SessionList, frames: readonly EventFrame[]): SessionList {
  const effective = frames.filter((frame) => frame.type === 'event.session.archived' || changeOf(frame));
  if (effective.length === 0) return list;
  const sessions = new Map(list.sessions.map((session) => [session.id, session]));
  const seen = { ...list.seen };
  for (const frame of effective) {
    if (frame.type === 'event.session.archived') {
      sessions.delete(frame.payload.sessionId);
      continue;
    }
    const id = frame.session_id;
    if (frame.seq <= (seen[id] ?? 0)) continue;
    seen[id] = frame.seq;
    const session = frame.type === 'event.session.created' ? frame.payload.session : sessions.get(id);
    const change = changeOf(frame);
    if (session && change) sessions.set(id, change(session));
  }
  return { sessions: ordered([...sessions.values()]), seen, single: list.single };
}

/** Removes sessions. */
export function withoutSessions(list: SessionList, ids: ReadonlySet<string>): SessionList {
  return { ...list, sessions: list.sessions.filter(({ id }) => !ids.has(id)) };
}

/** Adds a session that was read individually. */
export function withSingle(list: SessionList, session: Session): SessionList {
  const sessions = ordered([...list.sessions.filter(({ id }) => id !== session.id), session]);
  return { ...list, sessions, single: new Set([...list.single, session.id]) };
}

/** The session after which the next page starts. */
export const lastOfPages = ({ sessions, single }: SessionList): Session | undefined =>
  sessions.findLast(({ id }) => !single.has(id));

/** A session after an event about it; others change nothing. */
export const applyToSession = (session: Session, frame: EventFrame): Session => changeOf(frame)?.(session) ?? session;

function changeOf(frame: EventFrame): ((session: Session) => Session) | undefined {
  switch (frame.type) {
    case 'event.session.created':
      return (session) => session;
    case 'event.session.work_changed': {
      const { payload, timestamp } = frame;
      // The end of a turn moves the session up.
      return (session) => ({
        ...withWork(session, payload),
        ...(session.main_turn_active && !payload.main_turn_active && { updated_at: timestamp }),
      });
    }
    case 'session.meta.updated': {
      const { title, lastPrompt } = frame.payload.patch;
      return (session) => ({
        ...session,
        ...(title !== undefined && { title }),
        ...(lastPrompt !== undefined && { last_prompt: lastPrompt, updated_at: frame.timestamp }),
      });
    }
    default:
      return undefined;
  }
}

/** Sessions under their workspaces, the workspace with the newest session first. */
export function groupByWorkspace(sessions: readonly Session[], workspaces: readonly Workspace[]): SessionGroup[] {
  const groups = new Map<string, SessionGroup>();
  for (const session of sessions) {
    const known = groups.get(session.workspace_id);
    if (known) {
      known.sessions.push(session);
      continue;
    }
    const root = session.metadata.cwd;
    const name = workspaces.find((workspace) => workspace.id === session.workspace_id)?.name ?? baseName(root);
    groups.set(session.workspace_id, { id: session.workspace_id, name, root, sessions: [session] });
  }
  return [...groups.values()];
}

/** Sessions, each followed by its children; a child whose parent is missing is listed as any other. */
export function withChildren(sessions: readonly Session[]): { session: Session; isChild: boolean }[] {
  const ids = new Set(sessions.map(({ id }) => id));
  const parentOf = ({ metadata }: Session) => {
    const { parent_session_id: parent, child_session_kind: kind } = metadata;
    return kind === 'child' && typeof parent === 'string' && ids.has(parent) ? parent : undefined;
  };
  const children = new Map<string | undefined, Session[]>();
  for (const session of sessions) {
    const parent = parentOf(session);
    const known = children.get(parent);
    if (known) known.push(session);
    else children.set(parent, [session]);
  }
  const below = (parent: string | undefined): { session: Session; isChild: boolean }[] =>
    (children.get(parent) ?? []).flatMap((session) => [
      { session, isChild: parent !== undefined },
      ...below(session.id),
    ]);
  return below(undefined);
}

export const baseName = (path: string): string => path.split(/[\\/]/).findLast((part) => part !== '') ?? path;

/** The title, or the last prompt; empty for a session without either. */
export const knownTitleOf = (session: Session): string => session.title || session.last_prompt || '';
