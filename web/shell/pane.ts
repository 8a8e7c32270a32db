/** A pane of the page: a session with its conversation, the panel to its right and the drawer below. */
import { inject, type InjectionKey, type Ref } from 'vue';
import type { OpenSession } from '../stores/session.ts';

export interface Pane {
  /** Unique on the page; a pane keeps it when another session is opened in it. */
  readonly id: string;
  /** Whether the keys of commands apply to this pane: it has, or last had, the focus. */
  readonly isFocused: Readonly<Ref<boolean>>;
  readonly session: OpenSession;
  /** Id of the open panel; undefined closes it. */
  readonly panel: Ref<string | undefined>;
  /** Id of the panel that is open in the drawer; undefined closes it. */
  readonly drawer: Ref<string | undefined>;
  /** Opens a panel in its place, and moves the keys of commands to this pane. */
  show(panelId: string): void;
  /** Opens a panel, or closes it if it is displayed. */
  toggle(panelId: string): void;
  /** Moves the focus to its prompt box. */
  focusPrompt(): void;
}

export const paneKey: InjectionKey<Pane> = Symbol('pane');

/** The pane that the component is part of. */
export function usePane(): Pane {
  const pane = inject(paneKey);
  if (!pane) throw new Error('No pane is provided');
  return pane;
}
