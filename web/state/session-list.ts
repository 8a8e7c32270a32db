/** The session list as a pure fold over pages and global events. */
import type { EventFrame, Session, Workspace } from '../client/types.ts';

export interface SessionList {
  sessions: Session[];
  /** The newest applied event of each session: a replay sends older ones again. */
  seen: Record<string, number>;
}

export interface SessionGroup {
  id: string;
  name: string;
  root: string;
  sessions: Session[];
}

export const emptyList: SessionList = { sessions: [], seen: {} };

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
  return { ...list, sessions: ordered([...page, ...list.sessions.filter((session) => !ids.has(session.id))]) };
}

/**
 * Rebuilds the list from its first page, after missed events. Events that arrived during the request may be newer than
 * the page and are applied on top; they are idempotent, since each contains all that it changes.
 */
export function listAnew(list: SessionList, page: Session[], meanwhile: EventFrame[]): SessionList {
  const { sessions } = meanwhile.reduce(applyToList, withPage(emptyList, page));
  return { sessions, seen: list.seen };
}

/** Applies a global event; others change nothing. */
export function applyToList(list: SessionList, frame: EventFrame): SessionList {
  if (frame.type === 'event.session.archived') {
    return { ...list, sessions: list.sessions.filter((session) => session.id !== frame.payload.sessionId) };
  }
  const change = changeOf(frame);
  if (!change) return list;
  const id = frame.session_id;
  if (frame.seq <= (list.seen[id] ?? 0)) return list;
  const seen = { ...list.seen, [id]: frame.seq };
  if (frame.type === 'event.session.created') return { ...withPage(list, [frame.payload.session]), seen };
  return { sessions: ordered(list.sessions.map((session) => (session.id === id ? change(session) : session))), seen };
}

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
export function groupByWorkspace(sessions: Session[], workspaces: Workspace[]): SessionGroup[] {
  const groups = new Map<string, SessionGroup>();
  for (const session of sessions) {
    const root = session.metadata.cwd;
    const name = workspaces.find((workspace) => workspace.id === session.workspace_id)?.name;
    const group = groups.get(session.workspace_id) ?? {
      id: session.workspace_id,
      name: name ?? baseName(root),
      root,
      sessions: [],
    };
    group.sessions.push(session);
    groups.set(session.workspace_id, group);
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

/** The title, or a substitute for sessions without one. */
export const titleOf = (session: Session): string => session.title || session.last_prompt || 'New session';
