/** WebSocket requests of terminals. They load no session: an unloaded session has no terminals. */
import { defineFrame, invalidPayload, type Client, type FrameHandler } from '#server/events/frame-handler.ts';
import type { ConnectionFacts } from '#server/net/connection-facts.ts';
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
  /** Whether a connection offers terminals. */
  mounted(connection: ConnectionFacts): boolean;
}

interface TerminalName {
  session_id: string;
  terminal_id: string;
}

const lane = 'terminal';

/** Creates the handlers of the terminals' request frames. */
export function terminalFrames({ terminals, sessions, mounted }: TerminalFramesDeps): FrameHandler[] {
  async function find({ session_id, terminal_id }: TerminalName, { connection }: Client): Promise<Terminal> {
    if (!mounted(connection)) throw terminalNotFound(session_id, terminal_id);
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
        const replayed = terminals.attach(await find(payload, client), client, payload.since_seq);
        return { attached: true as const, replayed };
      },
    }),
    defineFrame(terminalDetachFrame, {
      lane,
      async handle(payload, client) {
        terminals.detach(await find(payload, client), client.id);
        return { detached: true as const };
      },
    }),
    defineFrame(terminalInputFrame, {
      lane,
      async handle(payload, client) {
        const accepted = await (await find(payload, client)).input(payload.data);
        if (!accepted) throw invalidPayload([{ path: 'data', message: 'the program does not read its input' }]);
        return { accepted: true as const };
      },
    }),
    defineFrame(terminalResizeFrame, {
      lane,
      async handle(payload, client) {
        (await find(payload, client)).resize(payload.cols, payload.rows);
        return { resized: true as const };
      },
    }),
    defineFrame(terminalCloseFrame, {
      lane,
      async handle(payload, client) {
        void (await find(payload, client)).close();
        return { closed: true as const };
      },
    }),
  ];
}
