/**
 * Helpers that define the endpoints of route files. A definition validates, runs and documents an endpoint.
 * Types flow from the schemas into the handler.
 *
 *     export default defineEndpoint({
 *       summary: 'Rename a workspace',
 *       tag: 'workspaces',
 *       params: pathParams('workspace_id'),
 *       body: z.object({ name: z.string().min(1).max(100) }),
 *       data: workspaceSchema,
 *       errors: ['workspace.not_found'],
 *       handler: ({ params, body, app }) => app.workspaces.rename(params.workspace_id, body.name),
 *     });
 */
import { isDeepStrictEqual } from 'node:util';
import { defineEventHandler, type H3Event } from 'h3';
import * as z from 'zod';
import type { App } from '#server/app/app.ts';
import type { FollowUp } from '#server/app/follow-ups.ts';
import type { Caller } from '#schema/rest/caller.ts';
import { codeOf, errorEntry } from '#server/errors/catalogue.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { ServiceError, invalid } from '#server/errors/service-error.ts';
import { DEFAULT_BODY_LIMIT, readJsonBody } from './http/body.ts';
import { callerOf } from './http/caller.ts';
import { clientSignal } from './http/client-signal.ts';
import { ItemPortions, portionsReply, type ItemOf } from './http/item-portions.ts';
import { createForm, type Form } from './http/multipart.ts';
import type { Reply } from './http/reply.ts';
import { success } from './http/reply.ts';
import { runEndpoint } from './http/run-endpoint.ts';
import { parseQuery } from './query.ts';
import type {
  Description,
  Schemas,
  RawDescription,
  EndpointParts,
  EndpointInput,
  Endpoint,
} from './endpoint-definition.ts';

type Awaitable<T> = T | Promise<T>;

/** A `stateless` endpoint has no app, so that it can run where there is none. */
type Reach<Stateless> = Stateless extends true ? object : { app: App };

export interface HandlerInput<Params, Query, Body, Resource> {
  params: Params;
  query: Query;
  body: Body;
  /** The body of an endpoint that takes a form. */
  readonly form: Form;
  /** The value that `load` returned. */
  resource: Resource;
  /** Answers to this request carry it. */
  requestId: string;
  /** The client that sent the request, as it names itself. */
  readonly caller: Caller;
  /** Aborted when the client has gone before its answer was complete. Only for work that has no other consumer then. */
  readonly signal: AbortSignal;
  /**
   * Runs `work` after the reply was sent, at the latest 2 s after the handler; not if the request fails. A stop of the
   * server waits for it.
   */
  afterReply(work: FollowUp): void;
  event: H3Event;
}

interface Steps<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Resource,
  Stateless extends boolean,
  Result,
> {
  /**
   * Needs neither a session nor the machine; its file imports nothing that opens the home, a socket or a native module.
   */
  stateless?: Stateless;
  /**
   * Runs after "the body is an object" and before the fields of body and query: session actions resolve theirs here.
   * `body` is not checked any further yet.
   */
  load?: (input: { params: z.output<Params>; body: unknown } & Reach<Stateless>) => Awaitable<Resource>;
  handler: (
    input: HandlerInput<z.output<Params>, z.output<Query>, z.output<Body>, Resource> & Reach<Stateless>,
  ) => Awaitable<Result>;
}

/** Builds the event handler of an endpoint. */
export function endpointOf(parts: EndpointParts): Endpoint {
  return Object.assign(
    defineEventHandler((event) => runEndpoint(parts, event)),
    parts,
  );
}

/** The checked value; throws `validation.failed` with every issue. */
export function parse<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues.map(({ path, message }) => ({ path: path.join('.'), message })));
}

const anyObject = z.looseObject({});
const nothing = z.undefined();

async function prepare<
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
  Resource,
  Stateless extends boolean,
  Result,
>(
  definition: Description & Schemas<Params, Query, Body> & Steps<Params, Query, Body, Resource, Stateless, Result>,
  { app, event, params: rawParams, query: rawQuery, requestId, remoteAddress }: EndpointInput,
): Promise<HandlerInput<z.output<Params>, z.output<Query>, z.output<Body>, Resource> & Reach<Stateless>> {
  const { bodyLimit = DEFAULT_BODY_LIMIT, bodyRequired = true, load } = definition;
  // Where a definition leaves a schema out, the type parameter is `ZodUndefined`.
  const paramsSchema = definition.params ?? (nothing as z.ZodType as Params);
  const querySchema = definition.query ?? (nothing as z.ZodType as Query);
  const bodySchema = definition.body ?? (nothing as z.ZodType as Body);
  // A stateless one's type hides it.
  const reach = { app } as Reach<Stateless>;

  let rawBody: unknown;
  if (definition.body) {
    rawBody = await readJsonBody(event, { maxBytes: bodyLimit, idleMs: app.options.httpLimits.bodyIdleMs });
    if (rawBody === undefined && !bodyRequired && !definition.bodyLast) rawBody = {};
  }
  const params = parse(paramsSchema, definition.params ? rawParams : undefined);
  if (definition.body && !definition.bodyLast) parse(anyObject, rawBody);
  const resource = (await load?.({ params, body: rawBody, ...reach })) as Resource;
  const body = parse(bodySchema, rawBody);
  const query = parse(querySchema, definition.query ? parseQuery(rawQuery) : undefined);
  return {
    ...reach,
    params,
    query,
    body,
    resource,
    requestId,
    event,
    afterReply(work) {
      event.context.served.followUp = work;
    },
    get form() {
      return createForm(event.node.req, app.options.httpLimits.bodyIdleMs);
    },
    get caller() {
      return callerOf(event.node.req.headers, remoteAddress);
    },
    get signal() {
      return clientSignal(event.node.res);
    },
  };
}

/** Tests set it: replies and errors that a definition does not declare become internal errors. */
const validateReplies = process.env.SERVICE_CODE_VALIDATE_REPLIES === '1';

function assertReply(schema: z.ZodType, data: unknown): void {
  const wire: unknown = data === undefined ? undefined : JSON.parse(JSON.stringify(data));
  const parsed: unknown = schema.parse(wire);
  const same = isDeepStrictEqual(parsed === undefined ? undefined : JSON.parse(JSON.stringify(parsed)), wire);
  if (!same) throw new Error(`the reply has members that its schema has not: ${JSON.stringify(wire)}`);
}

/** Returns the errors of an operation, ordered by code; including `validation.failed` if it has a schema. */
export function declaredErrors({ definition }: Pick<Endpoint, 'definition'>): ErrorName[] {
  const { errors = [], failureStatuses = {}, params, query, body, form } = definition;
  const validates = params ?? query ?? body ?? form;
  const names = new Set<ErrorName>([...(validates ? (['validation.failed'] as const) : []), ...errors]);
  // With a separate status, even the error of every endpoint is listed.
  if (failureStatuses['internal.error']) names.add('internal.error');
  return [...names].sort((a, b) => codeOf(a) - codeOf(b));
}

/** `internal.error` needs no declaration, nor does a failed write, which any endpoint may meet. */
const ALWAYS_DECLARED: ErrorName[] = ['validation.failed', 'internal.error', 'persistence.failure'];

function assertDeclared(endpoint: Pick<Endpoint, 'definition'>, error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  const { name, data } = error;
  if (!ALWAYS_DECLARED.includes(name) && !declaredErrors(endpoint).includes(name)) {
    return new Error(`the endpoint does not declare ${name} (${error.message})`);
  }
  assertReply(errorEntry(name).data ?? z.null(), data);
  return error;
}

async function checked<Result>(endpoint: Pick<Endpoint, 'definition'>, run: () => Promise<Result>): Promise<Result> {
  if (!validateReplies) return run();
  try {
    return await run();
  } catch (error) {
    throw assertDeclared(endpoint, error);
  }
}

/** An endpoint that answers with an envelope, or with 204 and nothing. */
export function defineEndpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Data extends z.ZodType = z.ZodUndefined,
  Resource = undefined,
  Stateless extends boolean = false,
>(
  definition: Description &
    Schemas<Params, Query, Body> & {
      /** Payload of the success envelope; left out only with 204. */
      data?: Data;
      status?: 201 | 204;
      /** The payload may have many MiB: plain values, written piece by piece. */
      large?: boolean;
    } & Steps<Params, Query, Body, Resource, Stateless, z.input<Data> | ItemPortions<ItemOf<z.input<Data>>>>,
): Endpoint {
  return endpointOf({
    definition,
    run: (input) =>
      checked({ definition }, async () => {
        const data: unknown = await definition.handler(await prepare(definition, input));
        const check = (shown: unknown) => {
          if (validateReplies && definition.data) assertReply(definition.data, shown);
        };
        if (data instanceof ItemPortions) return portionsReply(data, input.requestId, definition.status ?? 200, check);
        check(data);
        if (definition.status === 204) return { status: 204, headers: {} };
        return success(data, input.requestId, definition.status ?? 200, definition.large);
      }),
  });
}

/** An endpoint that answers with bytes, and with an envelope only when it fails. */
export function defineRawEndpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Resource = undefined,
  Stateless extends boolean = false,
>(
  definition: Description &
    Schemas<Params, Query, Body> & { raw: RawDescription } & Steps<Params, Query, Body, Resource, Stateless, Reply>,
): Endpoint {
  return endpointOf({
    definition,
    run: (input) => checked({ definition }, async () => definition.handler(await prepare(definition, input))),
  });
}
