/** Runs an endpoint for the request of an event. */
import type { ServerResponse } from 'node:http';
import type { H3Event } from 'h3';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import type { ConnectionFacts } from '#server/net/connection-facts.ts';
import { RequestAborted } from './body.ts';
import { failureReply, sendReply } from './send-reply.ts';
import { unknownRoute } from './served-request.ts';
import type { Reply } from './reply.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

/** Time limit of sending a reply, after which the work that follows it starts nevertheless. */
const FLUSH_MS = 2000;

/** Resolves when the reply has left the process or its client has disconnected, within the time limit. */
function replied(response: ServerResponse, facts: ConnectionFacts): Promise<void> {
  const closed = new Promise<void>((resolve) => response.once('close', resolve));
  return waitAtMost(FLUSH_MS, facts.kind === 'tunnel' ? closed.then(() => facts.flushed()) : closed);
}

/** Runs the endpoint and sends its reply. Throws `route.not_found` where this connection has not the endpoint. */
export async function runEndpoint(
  { definition, run }: Pick<Endpoint, 'definition' | 'run'>,
  event: H3Event,
): Promise<void> {
  const { app, served } = event.context;
  const { match, target, requestId, rules, client } = served;
  // Nitro's router also has the endpoints; a request that the table gave to another file does not reach one through it.
  if (match?.kind !== 'endpoint' || !(definition.mounted?.(rules.mounts) ?? true)) throw unknownRoute(event);
  let reply: Reply;
  try {
    reply = await run({
      app,
      event,
      params: match.params,
      query: target.query,
      requestId,
      remoteAddress: client.address,
    });
  } catch (error) {
    if (error instanceof RequestAborted) {
      served.isAborted = true;
      // Without it h3 would go on to the router.
      event._handled = true;
      return;
    }
    reply = failureReply(event, error, definition.failureStatuses);
    served.followUp = undefined;
  }
  if (served.followUp) app.followUps.run(replied(event.node.res, rules.facts), served.followUp);
  await sendReply(event, reply);
}
