/** Notifications of changed files of a session, across reconnects. */
import type { Client } from '@service-code/client';

/** Throttle: each notification makes the server run git, and a build may write continuously. */
const PAUSE_MS = 1000;

/**
 * Calls back with the changed paths, immediately and then at most once a second; undefined for too many paths, or when
 * changes may have been missed. The returned function stops it.
 */
export function watchFiles(
  { socket }: Pick<Client, 'socket'>,
  sessionId: string,
  changed: (paths: readonly string[] | undefined) => void,
  pauseMs = PAUSE_MS,
): () => void {
  const watched = { session_id: sessionId, paths: ['.'], recursive: true, runtime_id: 'local' };
  let waiting: Set<string> | 'any' | undefined;
  let pause: ReturnType<typeof setTimeout> | undefined;
  let ended = false;

  function tell(paths: readonly string[] | undefined) {
    if (ended) return;
    if (!paths || waiting === 'any') waiting = 'any';
    else waiting = new Set([...(waiting ?? []), ...paths]);
    if (pause === undefined) pass();
  }

  function pass() {
    pause = undefined;
    if (!waiting) return;
    const paths = waiting === 'any' ? undefined : [...waiting];
    waiting = undefined;
    pause = setTimeout(pass, pauseMs);
    changed(paths);
  }

  // A broken connection is reported elsewhere, and files that cannot be watched are still re-read with each turn.
  const arm = () =>
    socket.request('watch_fs_add', watched).then(
      () => tell(undefined),
      () => undefined,
    );
  const stops = [
    socket.onConnection((state) => {
      if (state.kind === 'open') void arm();
    }),
    socket.on('event.fs.changed', (frame) => {
      if (frame.session_id !== sessionId) return;
      const { changes, truncated } = frame.payload;
      tell(truncated ? undefined : changes.map(({ path }) => path));
    }),
  ];
  if (socket.connection.kind === 'open') void arm();
  return () => {
    ended = true;
    for (const stop of stops) stop();
    clearTimeout(pause);
    if (socket.connection.kind === 'open') socket.request('watch_fs_remove', watched).catch(() => undefined);
  };
}
