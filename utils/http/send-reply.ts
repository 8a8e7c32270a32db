/** Sends replies to the request of an event, and turns errors into replies. */
import type { H3Event } from 'h3';
import { ServiceError, errorMessage } from '#server/errors/service-error.ts';
import { UnreadableBody } from './body.ts';
import { failure, writeReply, type Reply } from './reply.ts';
import type { FailureStatuses } from '#utils/endpoint-definition.ts';

/** The reply to a request whose handling threw. Errors that are no `ServiceError` are logged as `internal.error`. */
export function failureReply({ context }: H3Event, error: unknown, statuses: FailureStatuses = {}): Reply {
  const { app, served } = context;
  const { requestId } = served;
  if (error instanceof ServiceError) return failure(error, requestId, statuses[error.name]);
  if (error instanceof UnreadableBody) {
    const reply = failure(error.answer, requestId);
    return { ...reply, headers: { ...reply.headers, connection: 'close' } };
  }
  app.log.error('unhandled error', { err: error, request_id: requestId });
  const uncoded = new ServiceError('internal.error', errorMessage(error) || 'internal error');
  return failure(uncoded, requestId, statuses['internal.error']);
}

/** Writes a reply; a failure to write it is logged. */
export async function sendReply(event: H3Event, reply: Reply): Promise<void> {
  const { app, served } = event.context;
  served.code = reply.code;
  try {
    await writeReply(event.node.req, event.node.res, reply);
  } catch (error) {
    app.log.error('unhandled error', { err: error, request_id: served.requestId });
  }
}
