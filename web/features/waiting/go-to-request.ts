/** Selects a session and scrolls to the card that requests an answer. */
import { watch } from 'vue';
import { requestPlaces } from '../../composer/request-places.ts';
import { leaveJump, showCard } from '../../composer/show-card.ts';
import type { Workbench } from '../../stores/workbench.ts';

/** The conversation is loaded first; afterwards the person may have gone elsewhere. */
const WAIT_MS = 10_000;

export function goToRequest(workbench: Workbench, sessionId: string): void {
  workbench.select(sessionId);
  const session = workbench.open(sessionId);
  const { focusedPane } = workbench.panes;
  leaveJump(workbench, session);
  const stop = watch(
    () => {
      const pane = focusedPane.value;
      return pane?.session === session ? [...requestPlaces(pane).cards][0] : undefined;
    },
    (card) => {
      if (!card) return;
      // Not in the callback of an immediate watcher, which has no handle yet.
      queueMicrotask(() => stop());
      void showCard(workbench, session, card, 'nearest');
    },
    { immediate: true, flush: 'post' },
  );
  setTimeout(stop, WAIT_MS);
}
