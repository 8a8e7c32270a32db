/** Terminals of a test's server, from a client's view. */
import * as z from 'zod';
import { terminalSchema, type Terminal } from '#schema/rest/terminal.ts';
import type { World } from './world.ts';
import type { Ack, ReceivedFrame, WsClient } from './ws-client.ts';

/** A shell that behaves the same for every user of the machine. */
export const PLAIN_SHELL = '/bin/sh';

export async function openTerminal(world: World, sessionId: string, body: object = {}): Promise<Terminal> {
  return terminalSchema.parse(
    await world.ok('POST', `/sessions/${sessionId}/terminals`, { shell: PLAIN_SHELL, ...body }),
  );
}

export async function readTerminal(world: World, { session_id, id }: Terminal): Promise<Terminal> {
  return terminalSchema.parse(await world.ok('GET', `/sessions/${session_id}/terminals/${id}`));
}

export interface Viewed {
  /** Frames of this terminal so far, in order. */
  frames(): ReceivedFrame[];
  /** All output so far. */
  text(): string;
  send(type: 'attach' | 'detach' | 'input' | 'resize' | 'close', payload?: object): Promise<Ack>;
  /** Waits for output that matches, across frames. */
  until(pattern: RegExp): Promise<void>;
  /** Waits for the last frame; returns its code. */
  exit(): Promise<unknown>;
}

const outputPayload = z.object({ data: z.string() });

/** A terminal over one connection; not attached yet. */
export function viewTerminal(client: WsClient, { session_id, id: terminal_id }: Terminal): Viewed {
  const own = (frame: ReceivedFrame) => frame.terminal_id === terminal_id;
  const frames = () => client.frames.filter(own);
  const text = () =>
    frames()
      .filter(({ type }) => type === 'terminal_output')
      .map(({ payload }) => outputPayload.parse(payload).data)
      .join('');
  return {
    frames,
    text,
    send: (type, payload = {}) =>
      client.send({ type: `terminal_${type}`, payload: { session_id, terminal_id, ...payload } }),
    async until(pattern) {
      await client.waitFor((frame) => own(frame) && pattern.test(text()));
    },
    async exit() {
      const { payload } = await client.waitFor((frame) => own(frame) && frame.type === 'terminal_exit');
      return payload.exit_code;
    },
  };
}
