/**
 * One session as a snapshot plus the events after it, without hole or repetition: subscribe first,
 * then read the snapshot, then pass on what came in between. After a broken line the cursor is replayed; when the
 * server cannot, or asks for a resync, a new snapshot takes its place.
 */
import { ApiError, ConnectionError } from './errors.ts';
import type { Rest } from './rest.ts';
import type { Socket } from './socket.ts';
import type { Cursor, EventFrame, Snapshot } from './types.ts';

const RETRY_MS = 1_000;

export interface FeedListener {
  /** Replaces everything known; events that follow are newer. */
  snapshot(snapshot: Snapshot): void;
  event(frame: EventFrame): void;
  /** The line is back and every missed durable event was passed on; deltas in between are lost. */
  resumed?(): void;
  /** The session cannot be watched (unknown, unreadable, not authorized). */
  failed(error: Error): void;
}

export interface SessionFeed {
  /** Reads a new snapshot; several calls at once make one. */
  refresh(): void;
  close(): void;
}

/** Watches a session until `close()`. */
export function watchSession(id: string, rest: Rest, socket: Socket, listener: FeedListener): SessionFeed {
  let cursor: Cursor | undefined;
  /** Events that wait for a snapshot; undefined while none is being read. */
  let waiting: EventFrame[] | undefined;
  let closed = false;
  let attempt = 0;
  let retry: ReturnType<typeof setTimeout> | undefined;

  function deliver(frame: EventFrame) {
    if (!frame.volatile) {
      if (cursor && frame.seq <= cursor.seq && frame.epoch === cursor.epoch) return;
      cursor = { seq: frame.seq, ...(frame.epoch !== undefined && { epoch: frame.epoch }) };
    }
    listener.event(frame);
  }

  async function readSnapshot() {
    clearTimeout(retry);
    waiting ??= [];
    attempt += 1;
    const mine = attempt;
    try {
      const snapshot = await rest.snapshot(id);
      if (closed || mine !== attempt) return;
      cursor = { seq: snapshot.as_of_seq, epoch: snapshot.epoch };
      listener.snapshot(snapshot);
      const held = waiting;
      waiting = undefined;
      // A volatile frame older than the snapshot is in it already.
      for (const frame of held) if (!frame.volatile || frame.seq >= snapshot.as_of_seq) deliver(frame);
    } catch (error) {
      if (closed || mine !== attempt) return;
      fail(error);
      // The line may be up although this one request found none; a reconnect would have started over by itself.
      if (error instanceof ConnectionError) retry = setTimeout(() => void readSnapshot(), RETRY_MS);
    }
  }

  async function subscribe() {
    const resumable = waiting ? undefined : cursor;
    if (!resumable) waiting = [];
    try {
      const ack = await socket.request('subscribe', {
        session_ids: [id],
        ...(resumable && { cursors: { [id]: resumable } }),
      });
      if (closed) return;
      if (ack.not_found?.includes(id))
        return fail(new ApiError(40401, `session ${id} does not exist`, { status: 200 }));
      if (!resumable) return await readSnapshot();
      // With a resync the snapshot is already on its way.
      if (!ack.resync_required?.includes(id)) listener.resumed?.();
    } catch (error) {
      fail(error);
    }
  }

  function fail(error: unknown) {
    // A broken line mends itself: the next connection subscribes again, without a cursor if a snapshot is still owed.
    if (closed || error instanceof ConnectionError) return;
    listener.failed(error instanceof Error ? error : new Error(String(error)));
  }

  const stop = socket.listen({
    connection(state) {
      if (state.kind === 'open') void subscribe();
    },
    event(frame) {
      if (frame.session_id !== id) return;
      if (waiting) waiting.push(frame);
      else if (cursor) deliver(frame);
    },
    resync(resync) {
      if (resync.session_id === id) void readSnapshot();
    },
  });
  if (socket.connection.kind === 'open') void subscribe();

  return {
    refresh() {
      if (!waiting) void readSnapshot();
    },
    close() {
      closed = true;
      clearTimeout(retry);
      stop();
      if (socket.connection.kind !== 'open') return;
      // The server forgets with the connection, so a request that fails has nothing left to undo.
      socket.request('unsubscribe', { session_ids: [id] }).catch(() => {});
    },
  };
}
