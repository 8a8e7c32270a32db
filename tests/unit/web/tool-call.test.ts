/** The state of a call, from its frame, its result and the answer to its approval. */
import { expect, it } from 'vitest';
import { INTERRUPTED_RESULT } from '#server/journal/crash-recovery.ts';
import type { ToolFrame } from '../../../web/state/rows.ts';
import { toolCallOf } from '../../../web/state/tool-call.ts';

const failed = (output: string): ToolFrame => ({
  kind: 'tool',
  frameId: 'f1',
  state: 'error',
  toolCallId: 'c1',
  name: 'Bash',
  input: { command: 'ls' },
  output,
});

it.each([
  ['Exit code: 1', undefined, 'failed'],
  ['The user rejected the call.', 'rejected', 'rejected'],
  ['The call was interrupted before it started; it had no effect.', undefined, 'cancelled'],
  ['Exit code: null\nInterrupted by user', undefined, 'cancelled'],
  [INTERRUPTED_RESULT, undefined, 'interrupted'],
  // The approval is settled with the call.
  [INTERRUPTED_RESULT, 'cancelled', 'interrupted'],
] as const)('with the result %j and the approval %s is %s', (output, answer, state) => {
  expect(toolCallOf(failed(output), answer).state).toBe(state);
});
