/** One open session: the feed folded into a view, and the reads that the view asks for. */
import { shallowRef, type InjectionKey } from 'vue';
import { ConnectionError } from '../client/errors.ts';
import type { Action } from '../state/session-reducer.ts';
import { doneSteps, emptyView, factsOf, type Facts, type SessionView } from '../state/session-view.ts';
import type { Workbench } from './workbench.ts';

const PAGE_SIZE = 100;
/** How often a hidden page still draws. */
const HIDDEN_DRAW_MS = 250;

/** The session that a part of the page belongs to. */
export const sessionIdKey: InjectionKey<string> = Symbol('session');

export type OpenSession = ReturnType<typeof openSession>;

/** Watches the session until `close()`. `view` changes at most once a frame. */
export function openSession(
  { client, features, report }: Pick<Workbench, 'client' | 'features' | 'report'>,
  id: string,
) {
  const { rest } = client;
  const view = shallowRef<SessionView>(emptyView);
  const failure = shallowRef<Error>();
  const loaded = shallowRef(false);
  let current = emptyView;
  let drawing = false;
  let reading = false;
  let closed = false;

  function dispatch(action: Action) {
    if (closed) return;
    current = features.reduce(current, action);
    if (!drawing) {
      drawing = true;
      if (document.hidden) setTimeout(draw, HIDDEN_DRAW_MS);
      else requestAnimationFrame(draw);
    }
    if (current.wants === 'snapshot') feed.refresh();
    else if (current.wants === 'messages' && !reading) void readMessages();
  }

  function draw() {
    drawing = false;
    view.value = current;
  }

  async function readMessages() {
    reading = true;
    const { tail } = current;
    const done = doneSteps(current);
    try {
      const page = await rest.messages(id, { page_size: PAGE_SIZE, ...(tail !== undefined && { after_id: tail }) });
      reading = false;
      // A snapshot that came in between has settled these steps already.
      if (current.tail !== tail || doneSteps(current) < done) return;
      dispatch({ type: 'messages', items: page.items.toReversed(), complete: !page.has_more, done });
    } catch (error) {
      reading = false;
      report(error);
    }
  }

  async function readRest() {
    const before = current.queue;
    try {
      const [status, prompts] = await Promise.all([rest.status(id), rest.prompts(id)]);
      dispatch({ type: 'facts', facts: factsOf(status) });
      const queue = prompts.queued.map((prompt) => ({ promptId: prompt.prompt_id, content: prompt.content }));
      dispatch({ type: 'queue', queue, before });
    } catch (error) {
      report(error);
    }
  }

  const feed = client.watch(id, {
    snapshot(snapshot) {
      loaded.value = true;
      failure.value = undefined;
      dispatch({ type: 'snapshot', snapshot });
      void readRest();
    },
    event: (frame) => dispatch({ type: 'event', frame }),
    resumed() {
      // Replay holds no deltas: fill the text of a turn that still runs. A read that broke off is owed too.
      if (current.turn || current.wants === 'snapshot') feed.refresh();
      else if (current.wants === 'messages' && !reading) void readMessages();
    },
    failed(error) {
      failure.value = error;
      report(error);
    },
  });

  return {
    id,
    view,
    failure,
    loaded,
    /** Shows a choice before the event that confirms it. */
    setFacts(facts: Partial<Facts>) {
      dispatch({ type: 'facts', facts: { ...current.facts, ...facts } });
    },
    async loadOlder() {
      const first = current.entries.find((entry) => entry.kind === 'message' && !entry.local);
      if (!first) return;
      try {
        const page = await rest.messages(id, { page_size: PAGE_SIZE, before_id: first.key });
        dispatch({ type: 'older', items: page.items.toReversed(), hasOlder: page.has_more });
      } catch (error) {
        if (!(error instanceof ConnectionError)) report(error);
      }
    },
    close() {
      closed = true;
      feed.close();
    },
  };
}
