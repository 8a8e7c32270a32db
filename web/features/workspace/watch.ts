/** Word of changed files of a session, over connections that come and go. */
import type { Client } from '../../client/client.ts';

/**
 * Calls back with the paths that changed, undefined where they are too many to tell, or where changes may have been
 * missed. Ends with the returned function.
 */
export function watchFiles(
  { socket }: Pick<Client, 'socket'>,
  sessionId: string,
  changed: (paths: readonly string[] | undefined) => void,
): () => void {
  const watched = { session_id: sessionId, paths: ['.'], recursive: true, runtime_id: 'local' };
  // A line that broke is told of elsewhere, and what cannot be watched is still read anew with each turn.
  const arm = () =>
    socket.request('watch_fs_add', watched).then(
      () => changed(undefined),
      () => undefined,
    );
  const stop = socket.listen({
    connection(state) {
      if (state.kind === 'open') void arm();
    },
    filesChanged(frame) {
      if (frame.session_id !== sessionId) return;
      const { changes, truncated } = frame.payload;
      changed(truncated ? undefined : changes.map(({ path }) => path));
    },
  });
  if (socket.connection.kind === 'open') void arm();
  return () => {
    stop();
    if (socket.connection.kind === 'open') socket.request('watch_fs_remove', watched).catch(() => undefined);
  };
}
