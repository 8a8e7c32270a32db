/** The sessions of one editor: created, loaded, resumed, listed and closed. */
import { isAbsolute } from 'node:path';
import type {
  ListSessionsResponse,
  LoadSessionRequest,
  NewSessionRequest,
  ResumeSessionRequest,
} from '@agentclientprotocol/sdk';
import { ApiError, type Session } from '@service-code/client';
import { invalid, noModel, unknownSession } from './errors.ts';
import { createListsOnServer, writeLists, type ListsOnServer } from './lists-on-server.ts';
import { listsOf, type SessionLists } from './lists.ts';
import { openSession, type Editor, type OpenSession } from './open-session.ts';
import type { ServerLink } from './server-link.ts';

const PAGE_SIZE = 50;

type Described = ReturnType<OpenSession['facts']['described']>;

export interface Sessions {
  create(request: NewSessionRequest): Promise<Described & { sessionId: string }>;
  /** Opens a session; with `replay` its whole conversation is sent first. */
  open(request: LoadSessionRequest | ResumeSessionRequest, options: { replay: boolean }): Promise<Described>;
  list(request: { cwd?: string | null; cursor?: string | null }): Promise<ListSessionsResponse>;
  /** Throws for a session that is not open. */
  get(id: string): OpenSession;
  /** Cancels the prompts of a session; ignores unknown ones. */
  cancel(id: string): void;
  close(id: string): Promise<void>;
  /** Stops following all sessions. */
  release(): void;
}

/** `after` runs its callback when the reply to the present request has been sent. */
export function createSessions(deps: {
  link: ServerLink;
  editor: () => Editor;
  after(callback: () => void): void;
  log(text: string): void;
}): Sessions {
  const { link, after, log } = deps;
  const { rest } = link.client;
  const sessions = new Map<string, OpenSession>();

  const listsOnServer = (id: string, lists?: SessionLists) =>
    createListsOnServer(
      { serverId: link.serverId, write: (session, next) => writeLists(rest, session, next) },
      id,
      lists,
    );

  /** Follows the session in place of the one that the editor has open with this id. */
  async function open(session: Session, lists: ListsOnServer): Promise<OpenSession> {
    sessions.get(session.id)?.release();
    sessions.delete(session.id);
    const opened = await openSession({ link, editor: deps.editor(), session, lists, log });
    sessions.set(session.id, opened);
    return opened;
  }

  function get(id: string): OpenSession {
    const session = sessions.get(id);
    if (!session) throw unknownSession(id);
    return session;
  }

  return {
    async create(request) {
      const cwd = directory(request.cwd);
      const lists = listsOf(request);
      await link.ready();
      if (!(await rest.auth()).models_ready) throw noModel(link.url);
      const body = { metadata: { cwd }, ...lists };
      const session = await rest.createSession(body).catch((error: unknown) => {
        throw directoryError(error, lists) ?? error;
      });
      const opened = await open(session, await listsOnServer(session.id, lists));
      after(() => opened.start());
      return { sessionId: session.id, ...opened.facts.described() };
    },
    async open(request, { replay }) {
      directory(request.cwd);
      const lists = listsOf(request);
      await link.ready();
      const session = await rest.session(request.sessionId);
      const onServer = await listsOnServer(session.id);
      await onServer.set(lists).catch((error: unknown) => {
        // Another process may own the session, which can be read nevertheless.
        const isNeeded = lists.mcp_servers.length > 0 || lists.additional_dirs.length > 0;
        if (isNeeded || !(error instanceof ApiError)) throw directoryError(error, lists) ?? error;
      });
      const opened = await open(session, onServer);
      if (replay)
        await opened.replay().catch((error: unknown) => {
          // It may have been opened again meanwhile.
          if (sessions.get(session.id) === opened) sessions.delete(session.id);
          opened.release();
          throw error;
        });
      after(() => opened.start());
      return opened.facts.described();
    },
    async list({ cwd, cursor }) {
      await link.ready();
      const query = { page_size: PAGE_SIZE, ...(cursor != null && { before_id: cursor }) };
      const workspace = cwd == null ? undefined : await workspaceOf(directory(cwd));
      if (cwd != null && workspace === undefined) return { sessions: [] };
      const page = await rest.sessions({ ...query, ...(workspace !== undefined && { workspace_id: workspace }) });
      const last = page.items.at(-1);
      return {
        sessions: page.items.map((session) => ({
          sessionId: session.id,
          cwd: session.metadata.cwd,
          ...(session.title !== '' && { title: session.title }),
          updatedAt: session.updated_at,
          ...directoriesOf(sessions.get(session.id)),
        })),
        ...(page.has_more && last && { nextCursor: last.id }),
      };
    },
    get,
    cancel: (id) => sessions.get(id)?.cancel(),
    async close(id) {
      const session = get(id);
      sessions.delete(id);
      await session.close().catch((error: unknown) => {
        // A session that is gone needs no more work.
        if (!(error instanceof ApiError)) throw error;
      });
    },
    release() {
      for (const session of sessions.values()) session.release();
      sessions.clear();
    },
  };

  async function workspaceOf(root: string): Promise<string | undefined> {
    const { items } = await rest.workspaces();
    return items.find((workspace) => withoutSlash(workspace.root) === withoutSlash(root))?.id;
  }
}

/** Throws for a relative path. */
function directory(cwd: string): string {
  if (!isAbsolute(cwd)) throw invalid('cwd', 'must be an absolute path');
  return cwd;
}

/** The error for an additional directory that the server refuses; undefined for other failures. */
function directoryError(error: unknown, { additional_dirs }: SessionLists) {
  if (!(error instanceof ApiError) || ![40409, 40411].includes(error.code)) return undefined;
  const index = additional_dirs.findIndex((path) => error.msg.includes(path));
  return index === -1 ? undefined : invalid(`additionalDirectories.${index}`, error.msg);
}

const withoutSlash = (path: string): string => (path.length > 1 ? path.replace(/\/+$/, '') : path);

const directoriesOf = (session: OpenSession | undefined) =>
  session && session.lists.directories.length > 0 ? { additionalDirectories: [...session.lists.directories] } : {};
