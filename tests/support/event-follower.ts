/** A client that follows one session across reconnects and checks that every durable event arrives exactly once. */
import { expect } from 'vitest';
import * as z from 'zod';
import { isGlobalEvent } from '#server/events/frame.ts';
import type { BuiltServer } from './built-server.ts';
import { connect, type ReceivedFrame, type WsClient } from './ws-client.ts';

export const subscribe = (client: WsClient, id: string, cursor: { seq: number; epoch?: string }) =>
  client.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: cursor } } });

const watermark = z.object({ as_of_seq: z.number() });

/** `built.server` is the server that currently runs. */
export function createFollower(id: string, built: Pick<BuiltServer, 'server' | 'ok'>) {
  const applied: ReceivedFrame[] = [];
  let client: WsClient | undefined;
  let read = 0;
  let subscribed = false;

  /** Applies the received frames; every durable event must have the next `seq`. */
  function apply(): void {
    for (const frame of client?.frames.slice(read) ?? []) {
      read += 1;
      if (frame.type === 'ack') subscribed = true;
      if (frame.session_id !== id || frame.volatile) continue;
      const next = (applied.at(-1)?.seq ?? 0) + 1;
      // Global events arrive without a subscription; the replay repeats them at their positions.
      if (frame.seq !== next && !subscribed && isGlobalEvent(frame.type)) continue;
      expect(frame.seq).toBe(next);
      applied.push(frame);
    }
  }

  return {
    applied,
    async connect() {
      client = await connect(built.server);
      read = 0;
      subscribed = false;
      const { seq = 0, epoch = '' } = applied.at(-1) ?? {};
      const ack = await subscribe(client, id, { seq, epoch });
      expect(ack.payload).toMatchObject({ accepted: [id], resync_required: [] });
      apply();
    },
    /** Resolves after `count` more frames, or when the turn completes. */
    async frames(count: number) {
      let left = count;
      const from = client?.frames.length ?? 0;
      await client?.waitFor((frame) => {
        if ((client?.frames.indexOf(frame) ?? 0) >= from) left -= 1;
        return left <= 0 || (left < count && frame.type === 'prompt.completed');
      });
      apply();
    },
    async disconnected() {
      await client?.closed;
      apply();
    },
    /** Resolves when the session is idle, judged by its events only, after all of them have arrived. */
    async idle() {
      /** The awaited state, so that a failure prints it. */
      const state = async () => {
        const { as_of_seq } = watermark.parse(await built.ok('GET', `/sessions/${id}/snapshot`));
        apply();
        const work = applied.findLast(({ type }) => type === 'event.session.work_changed');
        const turn = applied.findLast(({ type }) => type === 'turn.started' || type === 'turn.ended');
        const over = turn?.type === 'turn.ended' && work?.payload['busy'] === false;
        const last = applied.at(-1);
        return over && last?.seq === as_of_seq ? 'idle' : { as_of_seq, last, turn, work };
      };
      await expect.poll(state, { interval: 5 }).toBe('idle');
    },
    /** Outcome of a completed prompt. */
    outcome: (promptId: string) =>
      applied.find(({ type, payload }) => type === 'prompt.completed' && payload['promptId'] === promptId)?.payload[
        'reason'
      ],
    close: () => client?.close(),
  };
}
