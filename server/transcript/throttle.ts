/**
 * Throttles streamed operations: chunks of a text within a short time become one batch, and of a call's growing
 * arguments and progress only the newest state is emitted, at a limited rate. A record flushes all that waits.
 */
import type { Clock } from '#server/clock.ts';
import { createChunkCoalescer } from '#server/events/chunk-coalescer.ts';
import type { StoredOp } from './reducer/state.ts';

/** Shortest interval between two states of a call, in milliseconds. */
export const CALL_MS = 100;

type Append = Extract<StoredOp, { op: 'append' }>;
type CallChange = Extract<StoredOp, { op: 'frame.upsert' }>;

interface CallState {
  /** The newest state since the one that was emitted. */
  op?: CallChange | undefined;
  cancelTimer: () => void;
}

export interface Throttle {
  /** Emits the operations of a volatile event, immediately or joined with later ones. */
  take(agentId: string, ops: StoredOp[]): void;
  /** Emits the waiting operations of an agent. */
  flush(agentId: string): void;
  /** Drops the waiting operations. */
  close(): void;
}

const targetOf = ({ target }: Append) => (target.type === 'frame' ? target.frameId : target.taskId);

/** Adds the text of an append to the pending one of the same text; stored texts stay alone. */
function appendText(pending: { op: Append }, { op: next }: { op: Append }): boolean {
  const { op } = pending;
  if (targetOf(op) !== targetOf(next) || typeof op.text !== 'string' || typeof next.text !== 'string') return false;
  pending.op = { ...op, text: op.text + next.text };
  return true;
}

/** Calls `emit` with batches in an order that is preserved for each frame. */
export function startThrottle(clock: Clock, emit: (agentId: string, ops: StoredOp[]) => void): Throttle {
  const texts = createChunkCoalescer<{ op: Append }>({
    append: appendText,
    emit: (agentId, { op }) => emit(agentId, [op]),
    clock,
  });
  /** By agent, the calls whose state was emitted less than `CALL_MS` ago, by frame. */
  const recentCalls = new Map<string, Map<string, CallState>>();

  /** Delays the call's next state. */
  function delayCall(agentId: string, frameId: string): void {
    const calls = recentCalls.get(agentId) ?? new Map<string, CallState>();
    recentCalls.set(agentId, calls);
    const cancelTimer = clock.setTimeout(() => {
      const op = calls.get(frameId)?.op;
      calls.delete(frameId);
      if (op) emitCall(agentId, op);
    }, CALL_MS);
    calls.set(frameId, { cancelTimer });
  }

  function emitCall(agentId: string, op: CallChange): void {
    delayCall(agentId, op.frame.frameId);
    emit(agentId, [op]);
  }

  function takeCall(agentId: string, op: CallChange): void {
    const recent = recentCalls.get(agentId)?.get(op.frame.frameId);
    if (recent) recent.op = op;
    else emitCall(agentId, op);
  }

  function flush(agentId: string): void {
    texts.flush(agentId);
    const calls = recentCalls.get(agentId);
    if (!calls) return;
    recentCalls.delete(agentId);
    for (const { op, cancelTimer } of calls.values()) {
      cancelTimer();
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
        if (last?.op === 'frame.upsert' && last.frame.kind === 'tool') delayCall(agentId, last.frame.frameId);
        emit(agentId, ops);
      } else if (op.op === 'meta.merge') emit(agentId, ops);
      else if (op.op === 'append') texts.add(agentId, { op });
      else if (op.op === 'frame.upsert') takeCall(agentId, op);
      else {
        flush(agentId);
        emit(agentId, ops);
      }
    },
    flush,
    close() {
      texts.drop();
      for (const calls of recentCalls.values()) for (const { cancelTimer } of calls.values()) cancelTimer();
      recentCalls.clear();
    },
  };
}
