/** The refusals of changes of the conversation. */
import { expect, it } from 'vitest';
import { ApiError } from '@service-code/client';
import { textOf } from '../../../web/messages/messages.ts';
import { hasLeftQueue, isBusyError, undoRefusal } from '../../../web/state/prompt-actions.ts';

const refused = (data: object) => undoRefusal(new ApiError(40911, 'Nothing to undo', { status: 200, data }));
const text = (data: object) => {
  const message = refused(data);
  return message && textOf(message);
};

it('explains each reason of the server', () => {
  expect(text({ reason: 'compaction_boundary', undoableCount: 0 })).toMatch(/^The conversation was compacted after/);
  expect(text({ reason: 'insufficient', undoableCount: 1 })).toMatch(/^Only 1 prompt can be taken back/);
  expect(text({ reason: 'insufficient', undoableCount: 2 })).toMatch(/^Only 2 prompts can be taken back/);
  expect(text({ reason: 'empty' })).toBe('There is no prompt that could be taken back.');
});

it('leaves other errors to others', () => {
  expect(undoRefusal(new ApiError(40901, 'busy', { status: 200 }))).toBeUndefined();
  expect(undoRefusal(new Error('lost'))).toBeUndefined();
  expect(isBusyError(new ApiError(40901, 'busy', { status: 200 }))).toBe(true);
  expect(isBusyError(new ApiError(40911, 'Nothing to undo', { status: 200 }))).toBe(false);
});

it('does not treat a session that another process holds as one that a stop makes idle', () => {
  const held = { status: 200, details: { reason: 'lock', pid: 42 } };
  expect(isBusyError(new ApiError(40901, 'session s is held by process 42', held))).toBe(false);
});

it('recognizes a prompt that has left the queue', () => {
  const left = [40402, 40903, 40901].map((code) => hasLeftQueue(new ApiError(code, 'gone', { status: 200 })));
  expect(left).toEqual([true, true, false]);
});
