/** Store of the terminals of all sessions, in creation order. */
import { randomUUID } from 'node:crypto';
import { ServiceError } from '#server/errors/service-error.ts';
import type { Client } from '#server/events/frame-handler.ts';
import type { Logger } from '#server/logging/log.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import type { Runtime } from '#server/runtime/runtime.ts';
import type { CreateTerminal, Terminal as TerminalObject } from '#schema/rest/terminal.ts';
import { startDirectory } from './directory.ts';
import type { OpenPty } from './pty.ts';
import { userShell } from './shell.ts';
import { startTerminal, type Terminal } from './terminal.ts';

/** Whether the server offers terminals with this bind: an open port must not expose a shell. */
export const terminalsMounted = (bind: { exposed: boolean; allowRemoteTerminals: boolean }): boolean =>
  !bind.exposed || bind.allowRemoteTerminals;

/** The session that owns a terminal. */
export interface TerminalSession {
  id: string;
  workspaceId: string;
  /** The terminal's work directory, absolute. */
  cwd: string;
  /** Additional directories of the workspace. */
  additionalDirs: () => Promise<readonly string[]>;
}

export interface Terminals {
  /** Throws `fs.path_not_found`, `runtime.not_found`, `runtime.unavailable`, `fs.path_escapes_session`. */
  create(session: TerminalSession, request: CreateTerminal): Promise<TerminalObject>;
  /** Throws `runtime.unavailable`. */
  list(sessionId: string): Promise<TerminalObject[]>;
  /** Throws `terminal.not_found`, `runtime.unavailable`. */
  get(sessionId: string, id: string): Promise<TerminalObject>;
  /** Marks it as exited immediately; its processes exit later. Throws `terminal.not_found`, `runtime.unavailable`. */
  close(sessionId: string, id: string): Promise<void>;
  find(sessionId: string, id: string): Terminal | undefined;
  /** Attaches the client until it detaches or disconnects; returns the number of replayed frames. */
  attach(terminal: Terminal, client: Client, sinceSeq: number): number;
  detach(terminal: Terminal, clientId: string): void;
  /** Whether a terminal of the session is running. */
  holds(sessionId: string): boolean;
  /** Closes and removes the session's terminals; settles when their processes have exited. */
  release(sessionId: string): Promise<void>;
}

export interface TerminalsDeps {
  runtime: Pick<Runtime, 'environment' | 'which' | 'realpath' | 'stat'>;
  /** Loads the pseudo terminal library; rejects where this platform has none. */
  loadPty(): Promise<OpenPty>;
  log: Logger;
}

export const terminalNotFound = (sessionId: string, id: string) =>
  new ServiceError('terminal.not_found', `terminal ${id} does not exist in session ${sessionId}`);

/** Creates an empty store; the library is loaded on first use. */
export function createTerminals({ runtime, loadPty, log }: TerminalsDeps): Terminals {
  const sessions = new Map<string, Map<string, Terminal>>();
  /** Terminals that each connection is attached to. */
  const attached = new Map<string, Set<Terminal>>();
  let loading: Promise<OpenPty | undefined> | undefined;

  async function ptyOf(runtimeId: string): Promise<OpenPty> {
    loading ??= loadPty().catch((error: unknown) => {
      log.warn('terminals are not available', { err: error });
      return undefined;
    });
    const openPty = await loading;
    if (openPty) return openPty;
    throw new ServiceError('runtime.unavailable', `runtime ${runtimeId} has no terminals on this machine`);
  }

  const find = (sessionId: string, id: string) => sessions.get(sessionId)?.get(id);
  const terminalsOf = (sessionId: string) => [...(sessions.get(sessionId)?.values() ?? [])];

  async function existing(sessionId: string, id: string): Promise<Terminal> {
    await ptyOf(LOCAL_RUNTIME);
    const terminal = find(sessionId, id);
    if (!terminal) throw terminalNotFound(sessionId, id);
    return terminal;
  }

  return {
    async create(session, { runtime_id, cwd, shell, cols, rows }) {
      if (runtime_id !== LOCAL_RUNTIME) {
        throw new ServiceError(
          'runtime.not_found',
          `runtime ${runtime_id} does not exist in workspace ${session.workspaceId}`,
        );
      }
      const openPty = await ptyOf(runtime_id);
      const directory = await startDirectory(cwd, [session.cwd, ...(await session.additionalDirs())], runtime);
      const program = shell ?? (await userShell(runtime));
      const id = `term_${randomUUID()}`;
      const terminal = startTerminal({
        id,
        sessionId: session.id,
        openPty,
        shell: program,
        cwd: directory,
        env: runtime.environment(),
        cols,
        rows,
        report: (what, error) => log.error(what, { sessionId: session.id, err: error }),
      });
      const own = sessions.get(session.id) ?? new Map<string, Terminal>();
      sessions.set(session.id, own.set(id, terminal));
      return terminal.view();
    },
    async list(sessionId) {
      await ptyOf(LOCAL_RUNTIME);
      return terminalsOf(sessionId).map((terminal) => terminal.view());
    },
    get: async (sessionId, id) => (await existing(sessionId, id)).view(),
    async close(sessionId, id) {
      void (await existing(sessionId, id)).close();
    },
    find,
    attach(terminal, client, sinceSeq) {
      let seen = attached.get(client.id);
      if (!seen) {
        seen = new Set();
        attached.set(client.id, seen);
        client.onClose(() => {
          for (const each of attached.get(client.id) ?? []) each.detach(client.id);
          attached.delete(client.id);
        });
      }
      seen.add(terminal);
      return terminal.attach(client, sinceSeq);
    },
    detach(terminal, clientId) {
      attached.get(clientId)?.delete(terminal);
      terminal.detach(clientId);
    },
    holds: (sessionId) => terminalsOf(sessionId).some((terminal) => terminal.running()),
    async release(sessionId) {
      const own = terminalsOf(sessionId);
      sessions.delete(sessionId);
      await Promise.all(own.map((terminal) => terminal.close()));
      for (const seen of attached.values()) for (const terminal of own) seen.delete(terminal);
    },
  };
}
