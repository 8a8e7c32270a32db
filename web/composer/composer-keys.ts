/** The prompt box of each session, for the commands that act on it. */
import type { Command, Feature } from '../features/feature.ts';
import { runningTurn } from '../state/session-view.ts';
import type { OpenSession } from '../stores/session.ts';

export interface PromptBox {
  /** Puts the typed prompt into the running turn. */
  steer(): void;
}

const boxes = new WeakMap<OpenSession, PromptBox>();

/** Until the returned function is called. */
export function registerPromptBox(session: OpenSession, box: PromptBox): () => void {
  boxes.set(session, box);
  return () => {
    if (boxes.get(session) === box) boxes.delete(session);
  };
}

const isRunning = (session: OpenSession | undefined) =>
  session !== undefined && runningTurn(session.view.value.main) !== undefined;

const commands: readonly Command[] = [
  {
    id: 'composer.steer',
    title: 'composer.steer-turn',
    icon: 'zap',
    keys: 'Mod+Enter',
    when: ({ session }) => isRunning(session) && session?.draft.value.trim() !== '',
    run: ({ session }) => session && boxes.get(session)?.steer(),
  },
];

export const promptBox: Feature = { commands };
