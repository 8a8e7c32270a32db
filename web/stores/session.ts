/** One open session: its transcripts and other data, as a view that changes at most once in each animation frame. */
import type { VirtualItem } from '@tanstack/vue-virtual';
import { computed, inject, reactive, ref, shallowRef, type InjectionKey, type Ref } from 'vue';
import type { Client } from '../client/client.ts';
import {
  MAIN_AGENT,
  type EventFrame,
  type Session,
  type SessionStatus,
  type TranscriptState,
} from '../client/types.ts';
import type { FeatureSet } from '../features/feature.ts';
import { applyToSession } from '../state/session-list.ts';
import { mainOf, type SessionView } from '../state/session-view.ts';
import { createTimeline, type Row } from '../state/timeline.ts';
import { createAttachments } from './attachments.ts';
import type { StateListener } from './follow-state.ts';

/** Draw interval of a hidden page. */
const HIDDEN_DRAW_MS = 250;

export interface SessionDeps {
  client: Client;
  features: FeatureSet;
  report(error: unknown): void;
}

export type OpenSession = ReturnType<typeof openSession>;

/** The session that a part of the page belongs to. */
export const openSessionKey: InjectionKey<OpenSession> = Symbol('session');

export function useOpenSession(): OpenSession {
  const session = inject(openSessionKey);
  if (!session) throw new Error('No session is provided');
  return session;
}

/** Scroll position of a list of rows. */
export interface ScrollPosition {
  offset: number;
  atEnd: boolean;
  sizes: VirtualItem[];
}

/** The conversation of another agent than the main one. */
export interface OpenAgent {
  /** Undefined until it is loaded; mutated in place. */
  state(): TranscriptState | undefined;
  rows: Ref<readonly Row[]>;
  hasOlder: Ref<boolean>;
  close(): void;
}

/** Follows the session until `close()`. */
export function openSession({ client, features, report }: SessionDeps, id: string) {
  const { rest, socket } = client;
  const session = shallowRef<Session>();
  const status = shallowRef<SessionStatus>();
  const failure = shallowRef<Error>();
  const loaded = shallowRef(false);
  const version = shallowRef(0);
  const draft = ref('');
  let drawing = false;
  let closed = false;
  /** Events that arrived while the session was being read. */
  let meanwhile: EventFrame[] | undefined;
  const listeners = new Set<StateListener>();

  function draw() {
    drawing = false;
    version.value += 1;
  }

  function changed(agentId: string) {
    if (agentId === MAIN_AGENT && !loaded.value) {
      loaded.value = true;
      // The status costs the server a read of the whole session, so it is read only if the transcript lacks it.
      if (mainOf(feed.agents).meta.agent?.model === undefined) void refreshStatus();
    }
    if (drawing || closed) return;
    drawing = true;
    if (document.hidden) setTimeout(draw, HIDDEN_DRAW_MS);
    else requestAnimationFrame(draw);
  }

  async function read() {
    meanwhile = [];
    try {
      session.value = meanwhile.reduce(applyToSession, await rest.session(id));
    } catch (error) {
      report(error);
    }
    meanwhile = undefined;
  }

  /** Reads the settings of an agent that has not started, because no event contains them. */
  async function refreshStatus() {
    try {
      status.value = await rest.status(id);
    } catch (error) {
      report(error);
    }
  }

  const stops = [
    socket.onConnection((state) => {
      if (state.kind === 'open') void read();
    }),
    socket.onEvent((frame) => {
      if (frame.session_id !== id) return;
      meanwhile?.push(frame);
      if (session.value) session.value = applyToSession(session.value, frame);
      for (const listener of listeners) listener.event(frame);
    }),
  ];
  if (socket.connection.kind === 'open') void read();

  const feed = client.follow(id, {
    changed,
    failed(error) {
      failure.value = error;
      report(error);
    },
    eventsMissed() {
      for (const listener of listeners) listener.eventsMissed();
    },
  });

  const mainRows = createTimeline(features.isDrawn);
  /** Computed lazily: a session that is not displayed costs nothing. */
  const view = computed<SessionView>(() => {
    void version.value;
    const { agents } = feed;
    const main = mainOf(agents);
    return { id, session: session.value, status: status.value, agents, main, rows: mainRows(main) };
  });

  return {
    id,
    view,
    /** Open requests. */
    pending: computed(() => features.pending(view.value)),
    cwd: computed(() => session.value?.metadata.cwd),
    failure,
    loaded,
    /** The unsent prompt and its files. */
    draft,
    attachments: createAttachments(rest),
    /** Number of prompts that were sent from here. */
    sent: shallowRef(0),
    /** Whether a card is open, where the user has toggled it, by the card's id. */
    folds: reactive(new Map<string, boolean>()),
    place: undefined as ScrollPosition | undefined,
    /** Prepends a text to the unsent prompt. */
    takeBack(text: string) {
      draft.value = [text, draft.value].filter((part) => part.trim() !== '').join('\n\n');
    },
    refreshStatus,
    /** Calls the listener until the returned function is called. */
    listen(listener: StateListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    loadOlder: (agentId: string) => feed.loadOlder(agentId),
    /** Rows of another agent, followed in detail until `close()`. */
    openAgent(agentId: string): OpenAgent {
      const rowsOf = createTimeline(features.isDrawn);
      const state = () => feed.agents.get(agentId);
      const rows = computed(() => {
        void version.value;
        const loaded = state();
        return loaded ? rowsOf(loaded) : [];
      });
      const hasOlder = computed(() => (void version.value, state()?.hasMoreOlder === true));
      return { state, rows, hasOlder, close: feed.open(agentId) };
    },
    close() {
      closed = true;
      for (const stop of stops) stop();
      feed.close();
      this.attachments.close();
    },
  };
}
