/** The running turn, as the loop and its endings use it. */
import type { ModelErrorCode } from '#server/models/types.ts';
import type { TurnStream } from './turn-stream.ts';
import type { TurnInput } from '../contract/context.ts';
import type { ContextMessage, ToolCall } from '#schema/engine.ts';

/** A turn that has started. */
export interface Turn {
  id: number;
  /** Undefined for turns that no prompt opened. */
  promptId?: string | undefined;
  signal: AbortSignal;
  /** See `TurnRequest.givesUpOn`. */
  givesUpOn?: readonly ModelErrorCode[] | undefined;
  stream: TurnStream;
  /** Removes and returns the input for the next step: while there is any, the turn does not end as completed. */
  takeInput(): TurnInput[];
  /** The core's reminders before the next request. */
  reminders(): ContextMessage[];
  /** Runs the calls of a response. Returns whether a result stops the turn. */
  runTools(calls: ToolCall[]): Promise<boolean>;
}

export interface OpenStep {
  step: number;
  stepId: string;
}
