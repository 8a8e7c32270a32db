/**
 * Defines the routes of a session's file actions, `POST /sessions/{id}/fs:<action>`, with the order of their checks:
 * the body is an object and `runtime_id` text, then the session, then the runtime, then the fields of the action, then
 * its paths, which the handler checks.
 *
 *     export default defineFilesEndpoint({
 *       summary: 'Facts of a path',
 *       body: fileFields({ path: nonEmpty }),
 *       data: fileEntrySchema,
 *       errors: ['fs.path_not_found'],
 *       handler: ({ body, directory }) => statPath(directory, body.path),
 *     });
 */
import * as z from 'zod';
import type { App } from '#server/app/app.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { LOCAL_RUNTIME } from '#server/runtime/local.ts';
import type { SessionDirectory } from '#server/sessions/sessions.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { defineEndpoint, parse } from './endpoint.ts';
import { pathParams } from './params.ts';
import type { Endpoint } from './endpoint-definition.ts';

const frame = z.object({ runtime_id: nonEmpty.default(LOCAL_RUNTIME) });

/** The body of a file action: its own fields, and the runtime that every action may name. */
export const fileFields = <Shape extends z.core.$ZodLooseShape>(shape: Shape) => frame.extend(shape);

/** Throws `runtime.not_found`, unless `id` is the local runtime, the only one of a workspace. */
export function assertRuntime(id: string, workspaceId: string): void {
  if (id === LOCAL_RUNTIME) return;
  throw new ServiceError('runtime.not_found', `runtime ${id} does not exist in workspace ${workspaceId}`);
}

/** Errors of every file action. */
export const FILE_ERRORS: ErrorName[] = [
  'session.not_found',
  'runtime.not_found',
  'runtime.unavailable',
  'fs.path_escapes_session',
];

export interface FilesInput<Body> {
  body: Body;
  directory: SessionDirectory;
  app: App;
  /** Aborted when the client has gone. */
  readonly signal: AbortSignal;
}

interface FilesDefinition<Body extends z.ZodType, Data extends z.ZodType> {
  summary: string;
  operationId?: string;
  description?: string;
  /** Made with `fileFields`. */
  body: Body;
  data: Data;
  /** See `defineEndpoint`. */
  large?: boolean;
  /** Errors in addition to those of every action. */
  errors?: ErrorName[];
  /** How the session's place in the URL becomes a directory; loads the session unless given. */
  find?: (id: string, app: App) => Promise<SessionDirectory>;
  handler(input: FilesInput<z.output<Body>>): z.input<Data> | Promise<z.input<Data>>;
}

const ofSession = (id: string, app: App) => app.sessions.workDirectory(id);

/** An endpoint that works in a session's directory. */
export function defineFilesEndpoint<Body extends z.ZodType, Data extends z.ZodType>(
  definition: FilesDefinition<Body, Data>,
): Endpoint {
  const { errors = [], find = ofSession, handler, ...description } = definition;
  return defineEndpoint({
    ...description,
    tag: 'fs',
    params: pathParams('session_id'),
    bodyRequired: false,
    errors: [...FILE_ERRORS, ...errors],
    async load({ params, body, app }) {
      const { runtime_id } = parse(frame, body);
      const directory = await find(params.session_id, app);
      assertRuntime(runtime_id, directory.workspaceId);
      return directory;
    },
    handler: (input) =>
      handler({
        body: input.body,
        directory: input.resource,
        app: input.app,
        get signal() {
          return input.signal;
        },
      }),
  });
}
