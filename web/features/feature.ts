/**
 * What a feature may bring to the page. A feature is one folder with one registration, listed in `index.ts`; the rest
 * of the page iterates over the list and knows none of them.
 */
import type { Component } from 'vue';
import type { Display } from '../client/types.ts';
import { createToolViews, type ToolViews } from '../render/tool-view.ts';
import type { SessionView } from '../state/session-view.ts';

export interface Feature extends ToolViews {
  /** Draws the body of a tool card, by its kind; props `body` and `cwd`. */
  bodies?: Record<string, Component>;
  /** What waits for the person at the page, in the order of its cards. */
  pending?(view: SessionView): Pending[];
  /** Drawn behind the conversation, where what is pending is answered; props `view` and `cwd`. */
  cards?: Component;
  /** Draws an approval by the kind of its display, in place of the card of all; props `approval`, `cwd` and `first`. */
  approvalCards?: { [K in Display['kind']]?: Component };
  /** Drawn above the composer; prop `view`. */
  strip?: Component;
  /** Drawn behind the pickers of model and mode; prop `view`. */
  picker?: Component;
  /** Tabs of the panel beside the conversation. */
  panels?: readonly Panel[];
  /** Drawn once a session, whatever is shown; prop `session`. For what opens over the page. */
  overlay?: Component;
}

export interface Panel {
  /** Names the tab in what the browser remembers. */
  id: string;
  label: string;
  /**
   * Made when its tab is first opened and kept until the session is left; props `session` and `shown`, whether it can be
   * seen now.
   */
  component: Component;
}

export interface Pending {
  /** Of the request. */
  id: string;
  /** The call that waits, if one does. */
  toolCallId?: string | undefined;
  /** Shown in the call's card. */
  state: string;
  /** Shown above the composer. */
  activity: string;
  /** What the call wants, while it has no arguments of its own yet. */
  request?: { toolName: string; display: Display };
}

export type FeatureSet = ReturnType<typeof gatherFeatures>;

/** Everything that a list of features brings, in the order of the list. */
export function gatherFeatures(list: readonly Feature[]) {
  return {
    toolViews: createToolViews(list),
    bodies: new Map(list.flatMap((feature) => Object.entries(feature.bodies ?? {}))),
    cards: list.flatMap((feature) => feature.cards ?? []),
    approvalCards: new Map<string, Component>(list.flatMap((feature) => Object.entries(feature.approvalCards ?? {}))),
    strips: list.flatMap((feature) => feature.strip ?? []),
    pickers: list.flatMap((feature) => feature.picker ?? []),
    panels: list.flatMap((feature) => feature.panels ?? []),
    overlays: list.flatMap((feature) => feature.overlay ?? []),
    pending: (view: SessionView): Pending[] => list.flatMap((feature) => feature.pending?.(view) ?? []),
  };
}
