/** Answers the approval of the focused pane by keyboard. */
import { inject, onBeforeUnmount, onMounted } from 'vue';
import { isFirstPress, isTextField } from '../../keys/press.ts';
import { openSessionKey, type OpenSession } from '../../stores/session.ts';
import type { Command } from '../feature.ts';

export interface AnswerKeys {
  approve(): void;
  approveForSession?(): void;
  reject(): void;
}

interface Listener {
  listens(): boolean;
  keys: AnswerKeys;
}

/** The card of each session that the keys answer. */
const listeners = new WeakMap<OpenSession, Listener>();

const isMac = () => navigator.platform.startsWith('Mac');

/** Lets the keys answer the card of the calling component, while `listens` is true. */
export function useAnswerKeys(listens: () => boolean, keys: AnswerKeys): void {
  const session = inject(openSessionKey, undefined);
  const listener = { listens, keys };
  onMounted(() => session && listeners.set(session, listener));
  onBeforeUnmount(() => {
    if (session && listeners.get(session) === listener) listeners.delete(session);
  });
}

/** The card that the keys answer; on a Mac they type a character in a text field, so they answer only outside of one. */
const listenerOf = (session: OpenSession | undefined): Listener | undefined => {
  const listener = session && listeners.get(session);
  return listener?.listens() && !(isMac() && isTextField(document.activeElement)) ? listener : undefined;
};

/**
 * The keys work while a prompt is being written, too; a bare key or the focus could approve a call that the person has
 * not read. Each answer requires a press after the key has been released.
 */
const command = (answer: keyof AnswerKeys, rest: Pick<Command, 'id' | 'title' | 'icon' | 'keys'>): Command => ({
  ...rest,
  when: ({ session }) => listenerOf(session)?.keys[answer] !== undefined,
  run({ session }) {
    if (isFirstPress()) listenerOf(session)?.keys[answer]?.();
  },
});

export const answerCommands: readonly Command[] = [
  command('approve', { id: 'approvals.approve', title: 'approvals.approve', icon: 'check', keys: 'Alt+Y' }),
  command('approveForSession', {
    id: 'approvals.approve-session',
    title: 'approvals.approve-session',
    icon: 'shield-check',
    keys: 'Alt+Shift+Y',
  }),
  command('reject', { id: 'approvals.reject', title: 'approvals.reject', icon: 'x', keys: 'Alt+R' }),
];
