/** One open session: its transcripts and other data, as a view that changes at most once in each animation frame. */
import type { VirtualItem } from '@tanstack/vue-virtual';
import { computed, inject, reactive, shallowRef, type InjectionKey, type Ref } from 'vue';
import {
  MAIN_AGENT,
  type Client,
  type EventFrame,
  type Session,
  type SessionStatus,
  type TranscriptState,
} from '@service-code/client';
import type { FeatureSet } from '../features/feature.ts';
import type { SessionAction } from '../state/session-action.ts';
import { applyToSession } from '../state/session-list.ts';
import { mainOf, type SessionView } from '../state/session-view.ts';
import type { Drafts } from './drafts.ts';
import type { Row, ToolFrame } from '../state/rows.ts';
import { createTimeline, unfolded, type Folding, type TimelineOptions } from '../state/timeline.ts';
import { toolCallOf } from '../state/tool-call.ts';
import { createTurnWindow } from './turn-window.ts';
import { viewMode } from './view-mode.ts';
import type { StateListener } from './follow-state.ts';

/** Draw interval of a hidden page. */
const HIDDEN_DRAW_MS = 250;

export interface SessionDeps {
  client: Client;
  features: FeatureSet;
  drafts: Drafts;
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
  /** Key of the last row when the user left the end, if that has happened. */
  lastSeen: string | undefined;
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

/** The effect of calls by the features' views; frames are replaced when they change. */
function effectsOf({ toolViews }: FeatureSet): NonNullable<TimelineOptions['effectOf']> {
  const known = new WeakMap<ToolFrame, ReturnType<typeof toolViews.ofCall>>();
  return (frame) => {
    const summary = known.get(frame) ?? toolViews.ofCall(toolCallOf(frame));
    known.set(frame, summary);
    return summary;
  };
}

/** Follows the session until `close()`. */
export function openSession({ client, features, drafts, report }: SessionDeps, id: string) {
  const { rest, socket } = client;
  const session = shallowRef<Session>();
  const status = shallowRef<SessionStatus>();
  const failure = shallowRef<Error>();
  const loaded = shallowRef(false);
  const version = shallowRef(0);
  const draft = drafts.of(id);
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
      void turns.refresh();
      for (const listener of listeners) listener.eventsMissed();
    },
  });

  const turns = createTurnWindow({
    client,
    sessionId: id,
    state: () => mainOf(feed.agents),
    joined: () => changed(MAIN_AGENT),
    report,
  });

  const timeline = { isDrawn: features.isDrawn, effectOf: effectsOf(features) };
  /** The turns that the user has folded or unfolded, by agent. */
  const toggled = shallowRef<ReadonlyMap<string, ReadonlyMap<string, boolean>>>(new Map());
  const foldingOf = (agentId: string): Folding => ({
    mode: viewMode.value,
    toggled: toggled.value.get(agentId) ?? unfolded.toggled,
  });
  const mainRows = createTimeline(timeline);
  const windowRows = createTimeline(timeline);
  /** Computed lazily: a session that is not displayed costs nothing. */
  const view = computed<SessionView>(() => {
    void version.value;
    const { agents } = feed;
    const main = mainOf(agents);
    return {
      id,
      session: session.value,
      status: status.value,
      agents,
      main,
      rows: mainRows(main, foldingOf(MAIN_AGENT)),
    };
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
    draft: draft.text,
    attachments: draft.attachments,
    /** Number of prompts that were sent from here. */
    sent: shallowRef(0),
    /** Whether a card is open, where the user has toggled it, by the card's id. */
    folds: reactive(new Map<string, boolean>()),
    place: undefined as ScrollPosition | undefined,
    /** Unfolds or folds a turn. */
    setOpen(agentId: string, turnId: string, isOpen: boolean) {
      const turns = new Map(toggled.value.get(agentId)).set(turnId, isOpen);
      toggled.value = new Map(toggled.value).set(agentId, turns);
    },
    /** Mutated in place. */
    agentState: (agentId: string): TranscriptState | undefined => (void version.value, feed.agents.get(agentId)),
    /** Prepends a text to the unsent prompt. */
    takeBack: draft.takeBack,
    refreshStatus,
    /** Calls the listener until the returned function is called. */
    listen(listener: StateListener): () => void {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    loadOlder: (agentId: string) => feed.loadOlder(agentId),
    /** The window of turns that a jump has opened. */
    turns,
    /** The rows of the main agent's conversation that are displayed: those of the window, else the newest. */
    shownRows: computed<readonly Row[]>(() => {
      const shown = turns.window.value;
      if (!shown) return view.value.rows;
      return windowRows({ items: [...shown.items], pending: view.value.main.pending }, foldingOf(MAIN_AGENT));
    }),
    /** The open tool of the conversation. */
    tool: shallowRef<'outline' | 'find'>(),
    /** The change that waits for its confirmation. */
    asked: shallowRef<SessionAction>(),
    /** The image that the viewer displays. */
    image: shallowRef<{ url: string; name: string }>(),
    /** Rows of another agent, followed in detail until `close()`. */
    openAgent(agentId: string): OpenAgent {
      const rowsOf = createTimeline(timeline);
      const state = () => feed.agents.get(agentId);
      const rows = computed(() => {
        void version.value;
        const loaded = state();
        return loaded ? rowsOf(loaded, foldingOf(agentId)) : [];
      });
      const hasOlder = computed(() => (void version.value, state()?.hasMoreOlder === true));
      return { state, rows, hasOlder, close: feed.open(agentId) };
    },
    close() {
      closed = true;
      for (const stop of stops) stop();
      feed.close();
      turns.close();
    },
  };
}
