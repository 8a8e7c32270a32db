/**
 * Defines the debug endpoints: mounted with `--debug-endpoints` on a loopback bind, and listed without a tag.
 *
 *     export default defineDebugCallEndpoint('get', appCall);
 */
import * as z from 'zod';
import { CALL_ERRORS } from '#server/debug/call-member.ts';
import { debugMounted, type Debug } from '#server/debug/debug.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { jsonText } from '#server/text/json-text.ts';
import { defineEndpoint } from './endpoint.ts';
import type { Endpoint } from './endpoint-definition.ts';
import { pathParams } from './params.ts';

interface DebugView<Params extends z.ZodType, Data extends z.ZodType> {
  summary: string;
  params?: Params;
  data: Data;
  errors?: ErrorName[];
  view(debug: Debug, params: z.output<Params>): z.input<Data> | Promise<z.input<Data>>;
}

/** An endpoint that reads. */
export function defineDebugEndpoint<Data extends z.ZodType, Params extends z.ZodType = z.ZodUndefined>({
  view,
  ...description
}: DebugView<Params, Data>): Endpoint {
  return defineEndpoint({
    ...description,
    mounted: debugMounted,
    handler: ({ app, params }) => view(app.debug, params),
  });
}

interface DebugCall<Params extends z.ZodType> {
  summary: string;
  params: Params;
  call(debug: Debug, params: z.output<Params>, given: unknown): Promise<unknown>;
}

const callOf = <Params extends z.ZodType>(call: DebugCall<Params>) => call;

export const appCall = callOf({
  summary: 'Call a member of a service of the server',
  params: pathParams('service', 'method'),
  call: (debug, member, given) => debug.call(member, given),
});

export const sessionCall = callOf({
  summary: 'Call a member of a service of a loaded session',
  params: pathParams('session_id', 'service', 'method'),
  call: (debug, { session_id, ...member }, given) => debug.callSession(session_id, member, given),
});

export const agentCall = callOf({
  summary: 'Call a member of a service of an agent',
  params: pathParams('session_id', 'agent_id', 'service', 'method'),
  call: (debug, { session_id, agent_id, ...member }, given) => debug.callAgent(session_id, agent_id, member, given),
});

/**
 * An endpoint that calls: the argument is the body of a POST, or JSON in the query of a GET. Without authentication there
 * is no GET, because a page of another site can send one without an `Origin`.
 */
export function defineDebugCallEndpoint<Params extends z.ZodType>(
  method: 'get' | 'post',
  { summary, params, call }: DebugCall<Params>,
): Endpoint {
  const description = { summary, params, data: z.unknown(), errors: CALL_ERRORS, large: true };
  if (method === 'post') {
    return defineEndpoint({
      ...description,
      mounted: debugMounted,
      body: z.unknown(),
      bodyRequired: false,
      bodyLast: true,
      handler: ({ app, params: named, body }) => call(app.debug, named, body),
    });
  }
  return defineEndpoint({
    ...description,
    mounted: (bind) => debugMounted(bind) && !bind.bypassAuth,
    query: z.object({ arg: jsonText.optional() }),
    handler: ({ app, params: named, query }) => call(app.debug, named, query.arg),
  });
}
