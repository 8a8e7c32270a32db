/** One terminal: its program, what it wrote, and who looks at it. */
import type { Client } from '#server/events/frame-handler.ts';
import { killAtExit } from '#server/processes/process-group.ts';
import { iso } from '#schema/scalars.ts';
import type { Terminal as TerminalObject } from '#schema/terminal.ts';
import { hangUp } from './hang-up.ts';
import { createInputQueue } from './input-queue.ts';
import { createOutputFrames, resizedFrame } from './output-frames.ts';
import type { OpenPty } from './pty.ts';

/** Output is gathered for so long before it becomes a frame, unless it is the first after a pause or an input. */
const GATHER_MS = 8;
/** Gathered text that becomes a frame at once. */
const FRAME_CHARS = 64 * 1024;

export type Viewer = Pick<Client, 'id' | 'send'>;

export interface Terminal {
  /** As clients see it. */
  view(): TerminalObject;
  running(): boolean;
  /** Sends what is left of the frames after that number, then all that come. Returns how many were replayed. */
  attach(viewer: Viewer, sinceSeq: number): number;
  detach(viewerId: string): void;
  /** Text for the program; dropped once it has ended. False when it does not read what it was sent before. */
  input(text: string): Promise<boolean>;
  resize(cols: number, rows: number): void;
  /** Ends it at once for clients; settles when its program and the foreground job are gone. */
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
  /** When the last frame was made; output after an input does not wait for others. */
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
    // Of a closed one it is still read, so that what hangs up can write its last.
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
