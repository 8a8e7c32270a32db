/** Scrolls to the card of a request. */
import { nextTick } from 'vue';
import type { OpenSession } from '../stores/session.ts';
import type { Workbench } from '../stores/workbench.ts';

/** Returns from the turn of a jump to the newest ones: open requests are part of them. */
export function leaveJump({ target }: Pick<Workbench, 'target'>, session: OpenSession): void {
  if (target.value?.sessionId === session.id) target.value = undefined;
  session.turns.leave();
}

export async function showCard(
  workbench: Pick<Workbench, 'target'>,
  session: OpenSession,
  card: HTMLElement,
  block: ScrollLogicalPosition,
): Promise<void> {
  leaveJump(workbench, session);
  // The newest rows replace those of the jump first.
  await nextTick();
  card.scrollIntoView({ block });
}
