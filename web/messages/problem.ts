/** Errors as texts: what happened, what it means and what to do, by the code of the server where the page has a text. */
import { ApiError, ConnectionError, reasonOf } from '@service-code/client';
import { isObject } from '../state/is-object.ts';
import { errors } from './en/errors.ts';
import { message, type Message } from './messages.ts';

export interface Problem {
  what: Message;
  means?: Message | undefined;
  do?: Message | undefined;
  /** The message of the server, or of the error. */
  reason: string;
}

/** An error of the page whose message is written for people, such as one about a text that was typed. */
export class ExplainedError extends Error {}

export const BUSY = 40901;

/** Whether another server has opened the session, so that no stop of a turn from here can help. */
export const isHeldElsewhere = (error: unknown): boolean =>
  error instanceof ApiError && error.code === BUSY && isObject(error.details) && error.details['reason'] === 'lock';

type ErrorKey = keyof typeof errors;

const isErrorKey = (key: string): key is ErrorKey => Object.hasOwn(errors, key);

function messageOf(name: string, part: 'what' | 'means' | 'do'): Message | undefined {
  const key = `errors.${name}.${part}`;
  return isErrorKey(key) ? message(key) : undefined;
}

function nameOf(error: unknown): string {
  if (error instanceof ConnectionError) return 'unreachable';
  if (error instanceof ExplainedError) return 'explained';
  if (!(error instanceof ApiError)) return 'defect';
  if (isHeldElsewhere(error)) return 'held';
  if (messageOf(String(error.code), 'what')) return String(error.code);
  return error.code >= 50000 ? 'internal' : 'refused';
}

/** Describes any thrown value. */
export function problemOf(error: unknown): Problem {
  const name = nameOf(error);
  return {
    what: messageOf(name, 'what') ?? message('errors.refused.what'),
    means: messageOf(name, 'means'),
    do: messageOf(name, 'do'),
    reason: reasonOf(error),
  };
}
