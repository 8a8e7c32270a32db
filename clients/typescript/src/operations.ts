/** The operations of the REST API as types: their parameters, bodies and replies, by method and path. */
import type { paths } from './generated/openapi.ts';

type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';
type Path = keyof paths;

/** `POST /api/v1/sessions/{session_id}/prompts` and so on: each operation of `/openapi.json`. */
export type Operation = {
  [P in Path]: { [M in Method]: paths[P][M] extends undefined ? never : `${Uppercase<M>} ${P}` }[Method];
}[Path];

/** The declaration of an operation in the document. */
type Declared<K extends Operation> = K extends `${infer M} ${infer P extends Path}`
  ? paths[P][Lowercase<M> & Method]
  : never;

type Parameters<K extends Operation> = Declared<K> extends { parameters: infer P } ? P : never;
/** Includes undefined if none of the parameters is required. */
type Parameter<K extends Operation, Place extends 'path' | 'query'> = Place extends keyof Parameters<K>
  ? Parameters<K>[Place]
  : never;

type Content<K extends Operation> =
  Declared<K> extends { requestBody?: infer Body }
    ? NonNullable<Body> extends { content: infer C }
      ? C
      : never
    : never;

/** The body of a request: a value that is sent as JSON, or a form. */
export type RequestBody<K extends Operation> =
  Content<K> extends { 'application/json': infer Body } ? Body : [Content<K>] extends [never] ? never : FormData;

type OptionalBody<K extends Operation> = Declared<K> extends { requestBody: object } ? never : undefined;

/** A member that is required, optional, or not allowed. */
type Member<Name extends string, Value> = [Value] extends [undefined]
  ? { [N in Name]?: undefined }
  : undefined extends Value
    ? { [N in Name]?: Value }
    : { [N in Name]: Value };

/** `path` and `query` have the parameters of the operation; the signal cancels the call. */
export type RequestOptions<K extends Operation> = Member<'path', Parameter<K, 'path'>> &
  Member<'query', Parameter<K, 'query'>> &
  Member<'body', RequestBody<K> | OptionalBody<K>> &
  CallOptions;

/** Options of every call. */
export interface CallOptions {
  /** Cancels the call, which then rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface UploadOptions extends CallOptions {
  /** Called with the sent share, from 0 to 1, if the client has an `XMLHttpRequest`. */
  onProgress?: (share: number) => void;
}

/** Arguments after the operation's name: none are needed where no parameter is. */
export type RequestArguments<K extends Operation> =
  object extends RequestOptions<K> ? [options?: RequestOptions<K>] : [options: RequestOptions<K>];

type Responses<K extends Operation> = Declared<K> extends { responses: infer R } ? R : never;
type ContentOf<Response> = Response extends { content: infer C } ? C : never;
/** The content of each status of a success. */
type Contents<K extends Operation> = {
  [S in keyof Responses<K> & (200 | 201)]: ContentOf<Responses<K>[S]>;
}[keyof Responses<K> & (200 | 201)];
type JsonOf<C> = C extends { 'application/json': infer Json } ? Json : never;

type DataOf<Json> = Json extends { code: 0; data: infer Data } ? Data : never;

/** Operations that reply with bytes; their failures are envelopes. */
export type BytesOperation = {
  [K in Operation]: Exclude<keyof Contents<K>, 'application/json'> extends never ? never : K;
}[Operation];

/** Operations that reply with JSON without an envelope. */
export type DocumentOperation = {
  [K in Operation]: JsonOf<Contents<K>> extends { code: number } ? never : K;
}[Operation];

/** The data of a successful reply. */
export type Reply<K extends Operation> = K extends BytesOperation
  ? Blob
  : K extends DocumentOperation
    ? object
    : // A success without content has no envelope.
      [DataOf<JsonOf<Contents<K>>>] extends [never]
      ? null
      : DataOf<JsonOf<Contents<K>>>;
