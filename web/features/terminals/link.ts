/**
 * A terminal over the page's socket: replays its output so far, then follows it, across reconnects. Reattaches when
 * frames are missing. Backpressure: for a slow screen it detaches, so that the server drops output.
 */
import { ApiError, type Socket, type Terminal, type TerminalFrame } from '@service-code/client';

/** Undrawn characters: the screen detaches above the high-water mark, and reattaches below the low-water mark. */
const BEHIND_CHARS = 2_000_000;
const CAUGHT_UP_CHARS = 100_000;
/** The terminal's session was unloaded, or its server restarted. */
const GONE = [40401, 40414];

/** The drawing interface of a terminal emulator. */
export interface Screen {
  readonly cols: number;
  readonly rows: number;
  /** Calls `drawn` when it has drawn the text. */
  write(text: string, drawn: () => void): void;
  /** Clears the screen before output that does not follow the drawn one. */
  clear(): void;
  /** Another client has resized the terminal. */
  resize(cols: number, rows: number): void;
}

export interface LinkEvents {
  exited(code: number | null): void;
  /** The server does not have the terminal any more. */
  gone(): void;
  failed(error: unknown): void;
}

export interface TerminalLink {
  input(text: string): void;
  /** Whether replayed output is being drawn: its terminal queries have been answered before. */
  isReplaying(): boolean;
  /** Sends the screen's new size. */
  resized(): void;
  close(): void;
}

/**
 * Follows a terminal until `close()`. Terminal queries in the output of a new terminal (`isNew`) are answered; those in
 * replayed output were answered by the first client, or are out of date.
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
  /** While `away`, frames are dropped: the server sent them before it processed the detach. */
  let state: 'away' | 'replay' | 'live' = 'away';
  /** Detached until the screen has caught up. */
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

  /** Detaches; reattaching resumes after the last received frame. */
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

  /** A full-screen program redraws itself when the size changes; attaching restores the size. */
  function redraw(): void {
    screen.clear();
    if (screen.rows > 1) sendSize(screen.rows - 1);
  }

  const isOurs = (frame: TerminalFrame) => frame.terminal_id === terminal_id && state !== 'away';

  const stops = [
    socket.onConnection(({ kind }) => {
      waiting = false;
      if (kind === 'open') void attach();
      else state = 'away';
    }),
    socket.on('terminal_output', (frame) => {
      if (isOurs(frame)) output(frame.seq, frame.payload.data);
    }),
    socket.on('terminal_exit', (frame) => {
      if (isOurs(frame)) events.exited(frame.payload.exit_code);
    }),
    socket.on('terminal_resized', (frame) => {
      // While resize requests of this client are pending, an earlier size must not override them.
      if (isOurs(frame) && sizesAsked === 0) screen.resize(frame.payload.cols, frame.payload.rows);
    }),
  ];
  if (socket.connection.kind === 'open') void attach();

  return {
    input: (text) => void socket.request('terminal_input', { ...ids, data: text }).catch(failed),
    isReplaying: () => replaying > 0,
    resized: () => sendSize(),
    close() {
      over = true;
      for (const stop of stops) stop();
      if (socket.connection.kind === 'open') socket.request('terminal_detach', ids).catch(() => undefined);
    },
  };
}
