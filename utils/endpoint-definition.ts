/** Types of an endpoint: its description, its schemas and the function that answers a request. */
import type { EventHandler, EventHandlerRequest, H3Event } from 'h3';
import type * as z from 'zod';
import type { App } from '#server/app/app.ts';
import type { BindOptions } from '#server/app/options.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import type { Reply } from './http/reply.ts';

export type FailureStatuses = Partial<Record<ErrorName, 404 | 500>>;

/** The common part of all definitions; all of it is in `/openapi.json`. */
export interface Description {
  /** One line. */
  summary: string;
  /** Group of the endpoint in the document. Undefined: listed without a tag (debug endpoints). */
  tag?: string;
  /** Describes the tag; exactly one of its endpoints has it. */
  tagDescription?: string;
  operationId?: string;
  description?: string;
  /**
   * Errors of the endpoint, in addition to `validation.failed`, which follows from `params`, `query` and `body`, and to
   * those of every endpoint: `auth.unauthorized`, `internal.error`.
   */
  errors?: ErrorName[];
  /** Errors that this endpoint answers with a separate HTTP status; the body is an envelope as for others. */
  failureStatuses?: FailureStatuses;
  /** Bytes of the JSON body at most. */
  bodyLimit?: number;
  /** False: no body counts as `{}`; with `bodyLast` it is undefined. */
  bodyRequired?: boolean;
  /** Whether "the body is an object" is checked after `load`, too. */
  bodyLast?: true;
  /** The body is a `multipart/form-data` form of these members, which the handler reads from `form`. For documents. */
  form?: z.ZodObject;
  /** Whether a connection has the endpoint; where it has not, it is an unknown route. */
  mounted?: (bind: BindOptions) => boolean;
  stateless?: boolean;
}

export interface Schemas<Params extends z.ZodType, Query extends z.ZodType, Body extends z.ZodType> {
  /** `pathParams('session_id')`, names as in the file's path. */
  params?: Params;
  /** Built with the helpers of `utils/query.ts`. */
  query?: Query;
  /** Absent: whatever is sent is ignored. */
  body?: Body;
}

/** How `/openapi.json` describes an answer that is no envelope. */
export interface RawDescription {
  contentType: string;
  /** Statuses of the raw answer; 200 unless given. */
  statuses?: number[];
  /** Lower-case names. */
  headers?: string[];
  /** Undefined: binary. */
  schema?: z.ZodType;
}

/** An endpoint as the table and the documents see it: its description, and the function that answers a request. */
export interface EndpointParts {
  definition: Description &
    Schemas<z.ZodType, z.ZodType, z.ZodType> & {
      data?: z.ZodType;
      status?: 201 | 204;
      raw?: RawDescription;
    };
  /** Validates and runs; rejects with a `ServiceError` for every failure that has a code. */
  run(input: EndpointInput): Promise<Reply>;
}

export interface EndpointInput {
  app: App;
  event: H3Event;
  params: Record<string, string>;
  /** Raw query string without `?`. */
  query: string;
  requestId: string;
  /** The client's, as the guard sees it. */
  remoteAddress: string | undefined;
}

/** A Nitro event handler that carries its definition. */
export type Endpoint = EventHandler<EventHandlerRequest, Promise<void>> & EndpointParts;
