/** Runs an endpoint for the request of an event. */
import type { H3Event } from 'h3';
import { RequestAborted } from './body.ts';
import { failureReply, sendReply } from './send-reply.ts';
import { unknownRoute } from './served-request.ts';
import type { Reply } from './reply.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

/** Runs the endpoint and sends its reply. Throws `route.not_found` where this bind has not the endpoint. */
export async function runEndpoint(
  { definition, run }: Pick<Endpoint, 'definition' | 'run'>,
  event: H3Event,
): Promise<void> {
  const { app, served } = event.context;
  const { match, target, requestId, remoteAddress } = served;
  // Nitro's router also has the endpoints; a request that the table gave to another file does not reach one through it.
  if (match?.kind !== 'endpoint' || !(definition.mounted?.(app.bind) ?? true)) throw unknownRoute(event);
  let reply: Reply;
  try {
    reply = await run({ app, event, params: match.params, query: target.query, requestId, remoteAddress });
  } catch (error) {
    if (error instanceof RequestAborted) {
      served.isAborted = true;
      // Without it h3 would go on to the router.
      event._handled = true;
      return;
    }
    reply = failureReply(event, error, definition.failureStatuses);
  }
  await sendReply(event, reply);
}
