/** One terminal: its program, its output, its viewers. */
import type { Client } from '#server/events/frame-handler.ts';
import { killAtExit } from '#server/processes/process-group.ts';
import { iso } from '#schema/scalars.ts';
import type { Terminal as TerminalObject } from '#schema/rest/terminal.ts';
import { hangUp } from './hang-up.ts';
import { createInputQueue } from './input-queue.ts';
import { createOutputFrames, resizedFrame } from './output-frames.ts';
import type { OpenPty } from './pty.ts';

/** Interval for coalescing output into a frame, except for the first output after a pause or an input. */
const GATHER_MS = 8;
/** Size of collected text that is sent as a frame immediately. */
const FRAME_CHARS = 64 * 1024;

export type Viewer = Pick<Client, 'id' | 'send'>;

export interface Terminal {
  /** Returns the representation for clients. */
  view(): TerminalObject;
  running(): boolean;
  /** Replays the buffered frames after that number, then sends new ones. Returns the number of replayed frames. */
  attach(viewer: Viewer, sinceSeq: number): number;
  detach(viewerId: string): void;
  /** Queues input; dropped after the exit. False if the program does not read its earlier input. */
  input(text: string): Promise<boolean>;
  resize(cols: number, rows: number): void;
  /** Marks it as exited immediately; settles when its program and the foreground job have exited. */
  close(): Promise<void>;
}

export interface TerminalDeps {
  id: string;
  sessionId: string;
  openPty: OpenPty;
  shell: string;
  cwd: string;
  env: NodeJS.ProcessEnv;
  cols: number;
  rows: number;
  report(what: string, error: unknown): void;
}

/** Starts the program. */
export function startTerminal(deps: TerminalDeps): Terminal {
  const { id, sessionId, shell, cwd, env } = deps;
  const createdAt = iso(Date.now());
  let { cols, rows } = deps;
  let end: { exited_at: string; exit_code: number | null } | undefined;
  let closing = Promise.resolve();

  const ids = { session_id: sessionId, terminal_id: id };
  const frames = createOutputFrames(ids);
  const viewers = new Map<string, Viewer>();
  const lane = { newestOf: id };

  let gathered = '';
  let gatherTimer: NodeJS.Timeout | undefined;
  /** Time of the last frame; `-Infinity` after an input, so that its echo is sent immediately. */
  let lastFrameAt = -Infinity;

  const pty = deps.openPty({ file: shell, cwd, env, cols, rows });
  const survive = killAtExit(pty.pid);
  const typed = createInputQueue((bytes) => pty.write(bytes));

  function send(encoded: () => Buffer): void {
    if (viewers.size === 0) return;
    const bytes = encoded();
    for (const viewer of viewers.values()) viewer.send(lane, bytes);
  }

  function flush(): void {
    clearTimeout(gatherTimer);
    gatherTimer = undefined;
    if (gathered === '') return;
    const data = gathered;
    gathered = '';
    lastFrameAt = performance.now();
    send(frames.output(data).encoded);
  }

  function exited(exitCode: number | null): void {
    if (end) return;
    flush();
    end = { exited_at: iso(Date.now()), exit_code: exitCode };
    typed.close();
    send(frames.exit(exitCode).encoded);
  }

  pty.onOutput((text) => {
    // Output after closing is read but dropped, so that exiting programs can still write.
    if (end) return;
    gathered += text;
    if (gathered.length >= FRAME_CHARS || performance.now() - lastFrameAt >= GATHER_MS) flush();
    else gatherTimer ??= setTimeout(flush, GATHER_MS);
  });
  pty.onExit(({ exitCode, signal }) => {
    survive();
    exited(signal === 0 ? exitCode : null);
  });

  return {
    view: () => ({
      id,
      session_id: sessionId,
      cwd,
      shell,
      cols,
      rows,
      status: end ? 'exited' : 'running',
      created_at: createdAt,
      ...end,
    }),
    running: () => !end,
    attach(viewer, sinceSeq) {
      flush();
      const missed = frames.after(sinceSeq);
      for (const frame of missed) viewer.send('replay', frame.encoded());
      viewers.set(viewer.id, viewer);
      return missed.length;
    },
    detach(viewerId) {
      flush();
      viewers.delete(viewerId);
    },
    async input(text) {
      lastFrameAt = -Infinity;
      return typed.push(text);
    },
    resize(newCols, newRows) {
      if (end || (newCols === cols && newRows === rows)) return;
      pty.resize(newCols, newRows);
      cols = newCols;
      rows = newRows;
      flush();
      send(() => resizedFrame(ids, cols, rows));
    },
    close() {
      if (!end) {
        exited(null);
        if (process.platform === 'win32') pty.kill();
        else closing = hangUp(pty.pid).catch((error: unknown) => deps.report('a terminal could not be ended', error));
      }
      return closing;
    },
  };
}
