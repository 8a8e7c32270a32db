import type { IncomingMessage } from 'node:http';

/**
 * Closes the connection when no byte of the body arrives for `idleMs`. To be called when the reading starts; returns the
 * function that ends the watch.
 */
export function closeWhenIdle(request: IncomingMessage, idleMs: number): () => void {
  const timer = setTimeout(() => {
    // A reader that is slower than the client has paused the body.
    const waitsForClient = !request.complete && request.readableFlowing !== false;
    if (waitsForClient) request.destroy();
    else timer.refresh();
  }, idleMs);
  const onData = () => void timer.refresh();
  request.on('data', onData);
  return () => {
    clearTimeout(timer);
    request.off('data', onData);
  };
}
