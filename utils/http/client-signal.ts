import type { ServerResponse } from 'node:http';
import { RequestAborted } from './body.ts';

/** Aborted with `RequestAborted` when the client goes before its answer is complete. */
export function clientSignal(response: ServerResponse): AbortSignal {
  const controller = new AbortController();
  const onClose = () => {
    if (!response.writableFinished) controller.abort(new RequestAborted('the client closed the connection'));
  };
  if (response.closed) onClose();
  else response.once('close', onClose);
  return controller.signal;
}
