/** The refusals of changes of the conversation. */
import { ApiError } from '@service-code/client';
import { message, type Message } from '../messages/messages.ts';
import { BUSY, isHeldElsewhere } from '../messages/problem.ts';
import { isObject } from './is-object.ts';

const UNDO_UNAVAILABLE = 40911;
/** `prompt.not_found` and `prompt.already_completed`. */
const NOT_QUEUED = [40402, 40903];

/** Whether a turn is running, so that the change is possible after a stop. */
export const isBusyError = (error: unknown): boolean =>
  error instanceof ApiError && error.code === BUSY && !isHeldElsewhere(error);

/** Whether a prompt could not be removed because it has left the queue. */
export const hasLeftQueue = (error: unknown): boolean => error instanceof ApiError && NOT_QUEUED.includes(error.code);

/** The explanation of a refused undo; undefined for other errors. */
export function undoRefusal(error: unknown): Message | undefined {
  if (!(error instanceof ApiError) || error.code !== UNDO_UNAVAILABLE || !isObject(error.data)) return undefined;
  const { reason, undoableCount } = error.data;
  switch (reason) {
    case 'compaction_boundary':
      return message('conversation.undoCompacted');
    case 'insufficient':
      return message('conversation.undoInsufficient', { count: typeof undoableCount === 'number' ? undoableCount : 0 });
    default:
      return message('conversation.undoEmpty');
  }
}
