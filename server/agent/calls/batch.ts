/** Types and texts that the calls of one response share. */
import type { ToolCall } from '#schema/engine.ts';
import type { ApprovalAnswer } from '#server/interactions/approvals.ts';
import type { Decision } from '#server/permissions/decision.ts';
import type { PreparedCall, Tool, ToolEnvironment } from '#server/tools/tool.ts';
import type { AgentContext } from '../contract/context.ts';
import { TurnAborted } from '../contract/errors.ts';
import type { TurnStream } from '../loop/turn-stream.ts';
import type { RepeatVerdict } from '../contract/calls.ts';

/** The turn that a batch runs in. */
export interface BatchTurn {
  id: number;
  signal: AbortSignal;
  /** Publishes the state of waiting and running calls to clients. */
  stream: Pick<TurnStream, 'waiting' | 'toolStarted' | 'toolProgress' | 'toolEnded'>;
  /** Finds instruction files that the model should read after a successful call. */
  nestedInstructions(prepared: PreparedCall): Promise<string[]>;
}

export interface Batch {
  agent: AgentContext;
  turn: BatchTurn;
  /** In the order of the response. */
  calls: readonly ToolCall[];
  /** All tools of the agent, by name. */
  tools: ReadonlyMap<string, Tool>;
  environment: ToolEnvironment;
}

/** A call that may run. */
export interface AdmittedCall {
  call: ToolCall;
  prepared: PreparedCall;
  /** Checks again, when the call runs, what was permitted; returns the error text if it has changed. */
  outdated: Decision['outdated'];
  explicitGit: Decision['explicitGit'];
  /** The user's answer to a call with a review. */
  answer: ApprovalAnswer | undefined;
  args: unknown;
  key: string;
  repeat: RepeatVerdict;
  /** Later equal calls of the response, which get this call's result. */
  duplicates: ToolCall[];
}

const ABORTED_BY_USER =
  'Interrupted by user. This was a deliberate decision of the user; do not run it again unless asked to.';
const ABORTED = 'Aborted: the server stopped this call.';

/** Result text of a call that an abort ended. */
export const abortText = (signal: AbortSignal) =>
  signal.reason instanceof TurnAborted && signal.reason.by === 'user' ? ABORTED_BY_USER : ABORTED;
