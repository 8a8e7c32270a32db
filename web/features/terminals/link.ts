/**
 * A terminal over the page's socket: what was written so far and then all that comes, also after the line broke. Where
 * frames are missing it attaches again; a screen that cannot keep up lets the server drop what nobody could have read.
 */
import { ApiError } from '../../client/errors.ts';
import type { Socket } from '../../client/socket.ts';
import type { Terminal, TerminalFrame } from '../../client/types.ts';

/** Characters that a screen has not drawn yet: above the first it stops following, below the second it goes on. */
const BEHIND_CHARS = 2_000_000;
const CAUGHT_UP_CHARS = 100_000;
/** Its session was unloaded, its server started anew. */
const GONE = [40401, 40414];

/** What is drawn on. */
export interface Screen {
  readonly cols: number;
  readonly rows: number;
  /** Calls `drawn` when it has drawn the text. */
  write(text: string, drawn: () => void): void;
  /** What was drawn does not go on with what comes next. */
  clear(): void;
  /** Somebody gave the terminal another size. */
  resize(cols: number, rows: number): void;
}

export interface LinkEvents {
  exited(code: number | null): void;
  /** The server knows it no more. */
  gone(): void;
  failed(error: unknown): void;
}

export interface TerminalLink {
  input(text: string): void;
  /** What is drawn just now was drawn before: what the program asks in it has been answered. */
  isReplaying(): boolean;
  /** The screen has another size. */
  resized(): void;
  close(): void;
}

/**
 * Follows a terminal until `close()`. A new one is one that nobody has seen yet: what it asked of its screen so far is
 * answered; what is replayed later was answered then, or too late.
 */
export function followTerminal(
  socket: Socket,
  { session_id, id: terminal_id, isNew }: Pick<Terminal, 'session_id' | 'id'> & { isNew: boolean },
  screen: Screen,
  events: LinkEvents,
): TerminalLink {
  const ids = { session_id, terminal_id };
  let answers = isNew;
  /** Replayed frames that are not drawn yet. */
  let replaying = 0;
  let lastSeq = 0;
  /** Undrawn characters. */
  let behind = 0;
  /** `away` takes no frames: what still comes was sent before the server knew. */
  let state: 'away' | 'replay' | 'live' = 'away';
  /** Waits for the screen. */
  let waiting = false;
  let sizesAsked = 0;
  let over = false;

  function failed(error: unknown): void {
    if (over) return;
    if (error instanceof ApiError && GONE.includes(error.code)) events.gone();
    else events.failed(error);
  }

  async function attach(): Promise<void> {
    state = 'replay';
    try {
      await socket.request('terminal_attach', { ...ids, since_seq: lastSeq });
      if (state === 'replay') state = 'live';
      answers = false;
      sendSize();
    } catch (error) {
      failed(error);
    }
  }

  /** Stops following; goes on behind the last frame that was taken. */
  async function attachAgain(): Promise<void> {
    state = 'away';
    try {
      await socket.request('terminal_detach', ids);
      if (over) return;
      if (behind > CAUGHT_UP_CHARS) waiting = true;
      else await attach();
    } catch (error) {
      failed(error);
    }
  }

  function drawn(chars: number, isReplay: boolean): void {
    behind -= chars;
    if (isReplay) replaying -= 1;
    if (!waiting || over || behind > CAUGHT_UP_CHARS) return;
    waiting = false;
    void attach();
  }

  function output(seq: number, text: string): void {
    if (seq <= lastSeq) return;
    const isHole = seq !== lastSeq + 1;
    if (isHole && state === 'live') return void attachAgain();
    if (isHole) redraw();
    lastSeq = seq;
    behind += text.length;
    const isReplay = state === 'replay' && !answers;
    if (isReplay) replaying += 1;
    screen.write(text, () => drawn(text.length, isReplay));
    if (behind > BEHIND_CHARS) void attachAgain();
  }

  function sendSize(rows = screen.rows): void {
    sizesAsked += 1;
    socket
      .request('terminal_resize', { ...ids, cols: screen.cols, rows })
      .catch(failed)
      .finally(() => (sizesAsked -= 1));
  }

  /** A program that fills the screen draws it anew when the size changes, and its size is back when it is attached. */
  function redraw(): void {
    screen.clear();
    if (screen.rows > 1) sendSize(screen.rows - 1);
  }

  function receive(frame: TerminalFrame): void {
    if (frame.terminal_id !== terminal_id || state === 'away') return;
    if (frame.type === 'terminal_output') output(frame.seq, frame.payload.data);
    else if (frame.type === 'terminal_exit') events.exited(frame.payload.exit_code);
    // While own sizes are on their way, an earlier one must not win.
    else if (sizesAsked === 0) screen.resize(frame.payload.cols, frame.payload.rows);
  }

  const stop = socket.listen({
    connection({ kind }) {
      waiting = false;
      if (kind === 'open') void attach();
      else state = 'away';
    },
    terminal: receive,
  });
  if (socket.connection.kind === 'open') void attach();

  return {
    input: (text) => void socket.request('terminal_input', { ...ids, data: text }).catch(failed),
    isReplaying: () => replaying > 0,
    resized: () => sendSize(),
    close() {
      over = true;
      stop();
      if (socket.connection.kind === 'open') socket.request('terminal_detach', ids).catch(() => undefined);
    },
  };
}
