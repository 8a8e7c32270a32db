/** A call of one member, by the names of a request. */
import type { Clock } from '#server/clock.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { errorCode } from '#server/errors/errno.ts';
import { errorMessage, invalid, ServiceError } from '#server/errors/service-error.ts';
import { jsonResult } from './json-result.ts';
import { PROPERTY, type AnyAllowList, type Param } from './listed.ts';

/** Ms after which a call is given up; what it does continues. */
export const CALL_TIMEOUT_MS = 30_000;

export interface MemberName {
  service: string;
  method: string;
}

/** Where a call searches its member. */
export interface CallScope {
  readonly scope: string;
  readonly list: AnyAllowList;
  /** The services with the names of the list. */
  readonly services: object;
}

/** Errors that members throw. */
export const CALL_ERRORS: ErrorName[] = [
  'auth.provisioning_required',
  'auth.token_missing',
  'auth.token_unauthorized',
  'auth.model_not_resolved',
  'session.not_found',
  'workspace.not_found',
  'session.busy',
  'fs.path_not_found',
  'fs.permission_denied',
];

const refused = (message: string) => new ServiceError('validation.failed', message);

/** Errors of the file system with a code of their own; all others are `internal.error`. */
const SYSTEM_ERRORS: Readonly<Partial<Record<string, ErrorName>>> = {
  ENOENT: 'fs.path_not_found',
  ENOTDIR: 'fs.path_not_found',
  EACCES: 'fs.permission_denied',
  EPERM: 'fs.permission_denied',
  EIO: 'persistence.failure',
  ENOSPC: 'persistence.failure',
  EROFS: 'persistence.failure',
};

function coded(error: unknown): unknown {
  const name = SYSTEM_ERRORS[errorCode(error) ?? ''];
  return name === undefined ? error : new ServiceError(name, errorMessage(error), { cause: error });
}

/** The values of a request: an array has one for each parameter, any other value is the only one. */
function argumentsOf(given: unknown, params: readonly Param[]): unknown[] {
  const values: unknown[] = Array.isArray(given) ? given : given === undefined ? [] : [given];
  const results = params.map(({ name, schema }, at) => ({ name, result: schema.safeParse(values[at]) }));
  const issues = results.flatMap(({ name, result: { error } }) =>
    (error?.issues ?? []).map(({ path, message }) => ({ path: [name, ...path].join('.'), message })),
  );
  if (issues.length > 0) throw invalid(issues);
  return results.map(({ result }) => result.data);
}

/** Rejects with `internal.error` if the work takes longer than a call may. */
async function inTime<T>(work: Promise<T>, clock: Pick<Clock, 'setTimeout'>): Promise<T> {
  let callOff = () => {};
  const late = new Promise<never>((_resolve, reject) => {
    const timedOut = () => reject(new ServiceError('internal.error', `call timed out after ${CALL_TIMEOUT_MS}ms`));
    callOff = clock.setTimeout(timedOut, CALL_TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    callOff();
  }
}

/** Throws `validation.failed` for a service that the scope does not list. */
function listedService({ scope, list, services }: CallScope, elsewhere: readonly AnyAllowList[], name: string) {
  const listed = Object.hasOwn(list, name) ? list[name] : undefined;
  const service: unknown = listed && Reflect.get(services, name);
  if (listed && typeof service === 'object' && service !== null) return { service, members: listed.members };
  const isKnown = elsewhere.some((other) => Object.hasOwn(other, name));
  throw refused(isKnown ? `service not available in ${scope} scope: ${name}` : `unknown service: ${name}`);
}

/**
 * Calls a method or reads a property that the list of the scope names. `elsewhere` are the lists of the other scopes.
 * Throws `validation.failed` for names and arguments, `internal.error` after the deadline or for a result that cannot be
 * sent, and the errors of the member.
 */
export async function callMember(
  scope: CallScope,
  elsewhere: readonly AnyAllowList[],
  { service: name, method }: MemberName,
  given: unknown,
  clock: Pick<Clock, 'setTimeout'>,
): Promise<unknown> {
  const { service, members } = listedService(scope, elsewhere, name);
  // Own members only: a prototype has `constructor` and the like.
  const params = Object.hasOwn(members, method) && Object.hasOwn(service, method) ? members[method] : undefined;
  if (!params) throw refused(`method not found: ${name}.${method}`);
  const positional = params === PROPERTY ? [] : params;
  async function run(): Promise<unknown> {
    const member: unknown = Reflect.get(service, method);
    if (typeof member !== 'function') return jsonResult(member);
    return jsonResult(await Reflect.apply(member, service, argumentsOf(given, positional)));
  }
  try {
    return await inTime(run(), clock);
  } catch (error) {
    throw coded(error);
  }
}
