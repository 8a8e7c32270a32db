/** The window of turns that a jump has opened, kept up to date until it joins the loaded turns. */
import { shallowRef, type ShallowRef } from 'vue';
import { MAIN_AGENT, type Client, type TranscriptPage, type TranscriptState } from '@service-code/client';
import {
  WINDOW_TURNS,
  afterOps,
  beforeTurn,
  joinWindow,
  newestTurn,
  oldestTurn,
  openWindow,
  reaches,
  withNewer,
  withOlder,
  type TurnWindow,
} from '../state/turn-window.ts';

export interface TurnWindowDeps {
  client: Pick<Client, 'rest' | 'socket'>;
  sessionId: string;
  /** The main agent's loaded turns; a window that has reached them is added. */
  state(): TranscriptState;
  /** Called after they have got the turns of a window. */
  joined(): void;
  report(error: unknown): void;
}

export interface OpenTurnWindow {
  /** Undefined while the newest turns are displayed. */
  window: ShallowRef<TurnWindow | undefined>;
  /** Reads the turns around one. */
  openAt(ordinal: number): Promise<void>;
  loadOlder(): Promise<void>;
  loadNewer(): Promise<void>;
  /** Returns to the newest turns. */
  leave(): void;
  /** Frames were lost. */
  refresh(): Promise<void>;
  close(): void;
}

interface PageQuery {
  before_turn?: string;
  after_turn?: string;
  page_size: number;
}

export function createTurnWindow({ client, sessionId, state, joined, report }: TurnWindowDeps): OpenTurnWindow {
  const { rest, socket } = client;
  const window = shallowRef<TurnWindow>();
  /** The turn that it was opened at. */
  let center = 0;
  /** Incremented by each change that makes a requested page useless. */
  let changes = 0;

  /** Applies a page, unless the window was changed meanwhile. */
  async function read(query: PageQuery, apply: (page: TranscriptPage) => TurnWindow | undefined): Promise<void> {
    const mine = changes;
    try {
      const page = await rest.transcript(sessionId, { agent_id: MAIN_AGENT, ...query });
      if (mine !== changes) return;
      const next = apply(page);
      const loaded = state();
      for (const attachment of page.attachments) {
        if (!loaded.attachments.has(attachment.attachmentId))
          loaded.attachments.set(attachment.attachmentId, attachment);
      }
      if (next && (reaches(next, loaded) || (query.after_turn !== undefined && !page.has_more))) {
        joinWindow(next, loaded);
        window.value = undefined;
        joined();
      } else window.value = next;
    } catch (error) {
      report(error);
    }
  }

  const openAt = (ordinal: number) => {
    center = ordinal;
    changes += 1;
    return read({ before_turn: beforeTurn(ordinal), page_size: WINDOW_TURNS }, (page) =>
      oldestTurn(page.items) ? openWindow(page) : undefined,
    );
  };

  const refresh = async () => {
    if (window.value) await openAt(center);
  };

  const stop = socket.on('transcript.ops', ({ session_id, payload }) => {
    if (!window.value || session_id !== sessionId || payload.agent_id !== MAIN_AGENT) return;
    const result = afterOps(window.value, payload.ops);
    if (result.kind === 'removed') {
      changes += 1;
      window.value = oldestTurn(result.window.items) ? result.window : undefined;
    }
    if (result.kind === 'stale') void refresh();
  });

  return {
    window,
    openAt,
    async loadOlder() {
      const shown = window.value;
      const oldest = shown && oldestTurn(shown.items);
      if (!shown?.hasMoreOlder || !oldest) return;
      await read({ before_turn: oldest.turnId, page_size: WINDOW_TURNS }, (page) =>
        withOlder(window.value ?? shown, page),
      );
    },
    async loadNewer() {
      const shown = window.value;
      const newest = shown && newestTurn(shown.items);
      if (!shown || !newest) return;
      await read({ after_turn: newest.turnId, page_size: WINDOW_TURNS }, (page) =>
        withNewer(window.value ?? shown, page),
      );
    },
    leave() {
      changes += 1;
      window.value = undefined;
    },
    refresh,
    close: stop,
  };
}
