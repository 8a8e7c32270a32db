/** Errors as texts: what happened, what it means and what to do, by the code of the server where the page has a text. */
import { ApiError, ConnectionError, reasonOf } from '@service-code/client';
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
