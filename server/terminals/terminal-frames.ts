/** WebSocket requests of terminals. They load no session: an unloaded session has no terminals. */
import { defineFrame, invalidPayload, type FrameHandler } from '#server/events/frame-handler.ts';
import {
  terminalAttachFrame,
  terminalCloseFrame,
  terminalDetachFrame,
  terminalInputFrame,
  terminalResizeFrame,
} from '#schema/frames/terminals.ts';
import type { Terminal } from './terminal.ts';
import { terminalNotFound, type Terminals } from './terminals.ts';

export interface TerminalFramesDeps {
  terminals: Pick<Terminals, 'find' | 'attach' | 'detach'>;
  /** Throws `session.not_found`. */
  sessions: { assertExists(id: string): Promise<void> };
  /** Whether this bind offers terminals. */
  mounted: boolean;
}

const lane = 'terminal';

/** Creates the handlers of the terminals' request frames. */
export function terminalFrames({ terminals, sessions, mounted }: TerminalFramesDeps): FrameHandler[] {
  async function find({ session_id, terminal_id }: { session_id: string; terminal_id: string }): Promise<Terminal> {
    if (!mounted) throw terminalNotFound(session_id, terminal_id);
    const found = terminals.find(session_id, terminal_id);
    if (found) return found;
    await sessions.assertExists(session_id);
    throw terminalNotFound(session_id, terminal_id);
  }

  return [
    defineFrame(terminalAttachFrame, {
      lane,
      atLength: true,
      async handle(payload, client) {
        const replayed = terminals.attach(await find(payload), client, payload.since_seq);
        return { attached: true as const, replayed };
      },
    }),
    defineFrame(terminalDetachFrame, {
      lane,
      async handle(payload, client) {
        terminals.detach(await find(payload), client.id);
        return { detached: true as const };
      },
    }),
    defineFrame(terminalInputFrame, {
      lane,
      async handle(payload) {
        const accepted = await (await find(payload)).input(payload.data);
        if (!accepted) throw invalidPayload([{ path: 'data', message: 'the program does not read its input' }]);
        return { accepted: true as const };
      },
    }),
    defineFrame(terminalResizeFrame, {
      lane,
      async handle(payload) {
        (await find(payload)).resize(payload.cols, payload.rows);
        return { resized: true as const };
      },
    }),
    defineFrame(terminalCloseFrame, {
      lane,
      async handle(payload) {
        void (await find(payload)).close();
        return { closed: true as const };
      },
    }),
  ];
}
