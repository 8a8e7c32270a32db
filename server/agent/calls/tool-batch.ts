/**
 * The calls of one response, from preflight to results. Every call is prepared and decided in call order; after all are
 * decided they run, concurrently where their accesses allow.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ToolCall } from '#schema/engine.ts';
import type { AgentContext } from '../contract/context.ts';
import { admit, type Decided } from './admission.ts';
import { abortText, type AdmittedCall, type Batch, type BatchTurn } from './batch.ts';
import { finish, runCall } from './execution.ts';
import { accessesConflict } from './resource-access.ts';

const CALLS_IN_A_ROW = 8;

export interface BatchOutcome {
  /** Whether a result stops the turn. */
  stopTurn: boolean;
}

/** Runs the batch. If the turn is aborted, rejects with the signal's reason after every started call has a result. */
export async function runToolBatch(agent: AgentContext, turn: BatchTurn, calls: ToolCall[]): Promise<BatchOutcome> {
  const { signal } = turn;
  const batch: Batch = {
    agent,
    turn,
    calls,
    tools: new Map(agent.tools().all.map((tool) => [tool.name, tool])),
    environment: agent.environment(),
  };
  const decided: Decided = { admitted: [], refused: new Map(), stopped: false, stopTurn: false };
  const { admitted } = decided;
  try {
    for (const [index, call] of calls.entries()) {
      // Cooperative yielding: a series of calls that are refused immediately would block the event loop.
      if (index % CALLS_IN_A_ROW === CALLS_IN_A_ROW - 1) await nextTurn();
      await admit(call, decided, batch);
    }
  } catch (error) {
    // Admitted calls that did not run: clients have received their start.
    for (const entry of admitted) finish(entry, { output: abortText(signal), isError: true }, batch);
    throw error;
  }
  const running: Promise<boolean>[] = [];
  admitted.forEach((entry, index) => {
    const before = running.filter((_, earlier) => conflict(admitted[earlier], entry));
    running[index] = Promise.allSettled(before).then(() => runCall(entry, batch));
  });
  // Waits for all calls: a later result would be recorded after the turn's end.
  const outcomes = await Promise.allSettled(running);
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
  signal.throwIfAborted();
  const stops = outcomes.some((outcome) => outcome.status === 'fulfilled' && outcome.value);
  return { stopTurn: decided.stopTurn || stops };
}

const conflict = (a: AdmittedCall | undefined, b: AdmittedCall) =>
  a !== undefined && accessesConflict(a.prepared.accesses, b.prepared.accesses);
