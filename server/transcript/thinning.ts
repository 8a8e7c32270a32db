/**
 * Throttles streamed operations: chunks of a text within a short time become one batch, and of a call's growing
 * arguments and progress only the newest state is emitted, at a limited rate. A record flushes all that waits.
 */
import type { Clock } from '#server/clock.ts';
import type { StoredOp } from './reducer/state.ts';

/** Longest time that a chunk of text waits to be joined, in milliseconds. */
export const JOIN_MS = 16;
/** Shortest interval between two states of a call, in milliseconds. */
export const CALL_MS = 100;

type Append = Extract<StoredOp, { op: 'append' }>;
type CallChange = Extract<StoredOp, { op: 'frame.upsert' }>;

interface Waiting {
  text?: { op: Append; frameId: string; cancel: () => void } | undefined;
  /** Calls emitted recently, by frame, with their newest state since. */
  calls: Map<string, { op?: CallChange | undefined; cancel: () => void }>;
}

export interface Thinning {
  /** Emits the operations of a volatile event, immediately or joined with later ones. */
  take(agentId: string, ops: StoredOp[]): void;
  /** Emits the waiting operations of an agent. */
  flush(agentId: string): void;
  /** Drops the waiting operations. */
  close(): void;
}

/** Calls `emit` with batches in an order that is preserved for each frame. */
export function startThinning(clock: Clock, emit: (agentId: string, ops: StoredOp[]) => void): Thinning {
  const agents = new Map<string, Waiting>();

  function waitingOf(agentId: string): Waiting {
    const known = agents.get(agentId) ?? { calls: new Map() };
    agents.set(agentId, known);
    return known;
  }

  function flushText(agentId: string, waiting: Waiting): void {
    const { text } = waiting;
    if (!text) return;
    waiting.text = undefined;
    text.cancel();
    emit(agentId, [text.op]);
  }

  function takeText(agentId: string, op: Append): void {
    const frameId = op.target.type === 'frame' ? op.target.frameId : op.target.taskId;
    const waiting = waitingOf(agentId);
    const { text } = waiting;
    if (text?.frameId === frameId && typeof text.op.text === 'string' && typeof op.text === 'string') {
      text.op = { ...text.op, text: text.op.text + op.text };
      return;
    }
    flushText(agentId, waiting);
    waiting.text = { op, frameId, cancel: clock.setTimeout(() => flushText(agentId, waiting), JOIN_MS) };
  }

  /** Delays the call's next state. */
  function cool(agentId: string, waiting: Waiting, frameId: string): void {
    const cancel = clock.setTimeout(() => {
      const op = waiting.calls.get(frameId)?.op;
      waiting.calls.delete(frameId);
      if (op) tellCall(agentId, waiting, op);
    }, CALL_MS);
    waiting.calls.set(frameId, { cancel });
  }

  function tellCall(agentId: string, waiting: Waiting, op: CallChange): void {
    cool(agentId, waiting, op.frame.frameId);
    emit(agentId, [op]);
  }

  function takeCall(agentId: string, op: CallChange): void {
    const waiting = waitingOf(agentId);
    const known = waiting.calls.get(op.frame.frameId);
    if (known) known.op = op;
    else tellCall(agentId, waiting, op);
  }

  function flush(agentId: string): void {
    const waiting = agents.get(agentId);
    if (!waiting) return;
    agents.delete(agentId);
    flushText(agentId, waiting);
    for (const { op, cancel } of waiting.calls.values()) {
      cancel();
      if (op) emit(agentId, [op]);
    }
  }

  return {
    take(agentId, ops) {
      const [op, ...more] = ops;
      if (!op) return;
      if (more.length > 0) {
        flush(agentId);
        const last = ops.at(-1);
        if (last?.op === 'frame.upsert' && last.frame.kind === 'tool')
          cool(agentId, waitingOf(agentId), last.frame.frameId);
        emit(agentId, ops);
      } else if (op.op === 'meta.merge') emit(agentId, ops);
      else if (op.op === 'append') takeText(agentId, op);
      else if (op.op === 'frame.upsert') takeCall(agentId, op);
      else {
        flush(agentId);
        emit(agentId, ops);
      }
    },
    flush,
    close() {
      for (const { text, calls } of agents.values()) {
        text?.cancel();
        for (const { cancel } of calls.values()) cancel();
      }
      agents.clear();
    },
  };
}
