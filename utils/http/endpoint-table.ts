/**
 * The endpoint table as a Nitro middleware, which the build adds after those of `middleware/`. It answers all requests
 * but those of plain files, which go on to Nitro's router.
 */
import { defineEventHandler, type H3Event } from 'h3';
import { ServiceError } from '#server/errors/service-error.ts';
import type { EndpointEntry } from './route-table.ts';
import { failureReply, sendReply } from './send-reply.ts';
import { unknownRoute } from './served-request.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

/** Awaiting an import takes longer than a look into a map. */
const loaded = new WeakMap<EndpointEntry, Endpoint>();

async function endpointOf(entry: EndpointEntry): Promise<Endpoint> {
  const known = loaded.get(entry);
  if (known) return known;
  const { default: endpoint } = await entry.load();
  loaded.set(entry, endpoint);
  return endpoint;
}

/** Runs the endpoint that the table has for the request. Throws `route.not_found`, `validation.failed`. */
async function runMatch(event: H3Event): Promise<void> {
  const { match } = event.context.served;
  if (match?.kind === 'unsupported-action') {
    const message = `unsupported action: ${match.tail}`;
    // Clients know the message by its first words, so only the details contain the field.
    throw new ServiceError('validation.failed', message, { details: [{ path: match.field, message }] });
  }
  if (match?.kind !== 'endpoint') throw unknownRoute(event);
  const endpoint = await endpointOf(match.entry);
  await endpoint(event);
}

/** Answers the request by the endpoint that the table has for it, or with the reason why there is none. */
export async function answerByTable(event: H3Event): Promise<void> {
  try {
    await runMatch(event);
  } catch (error) {
    await sendReply(event, failureReply(event, error));
  }
}

export default defineEventHandler(async (event) => {
  if (event.context.served.match?.kind !== 'plain') await answerByTable(event);
});
