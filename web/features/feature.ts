/**
 * The extension points of the page. A feature is one folder with one registration, listed in `index.ts`; the rest of
 * the page iterates over the list and depends on no feature.
 */
import type { Component } from 'vue';
import type { ContentPart, Display, Rest } from '@service-code/client';
import { createToolViews, type ToolViews } from '../render/tool-view.ts';
import type { SessionView } from '../state/session-view.ts';
import type { Marker } from '../state/timeline.ts';
import type { OpenSession } from '../stores/session.ts';
import type { Workbench } from '../stores/workbench.ts';
import type { PlainKey } from '../messages/messages.ts';
import type { Pane } from '../shell/pane.ts';
import type { Insertion, TypedPart } from '../state/typed-part.ts';

export interface Feature extends ToolViews {
  /** Draws the body of a tool card, by its kind; props `body` and `cwd`. */
  bodies?: Record<string, Component>;
  /** The requests that wait for the user, in the order of their cards. */
  pending?(view: SessionView): Pending[];
  /** Drawn after the conversation, to answer pending requests; props `view` and `cwd`. */
  cards?: Component;
  /** Draws an approval by the kind of its display, instead of the general card; props `approval`, `cwd` and `first`. */
  approvalCards?: { [K in Display['kind']]?: Component };
  /** Drawn above the composer; prop `view`. */
  strip?: Component;
  /** Drawn after the pickers of model and mode; prop `view`. */
  picker?: Component;
  /** Completes a part of the text in the composer. */
  completion?: Completion;
  /**
   * Sends what was typed in another form than as a prompt; resolves to false to leave it to others. The reason of a
   * rejection is displayed, and the text stays.
   */
  sendTyped?(typed: TypedPrompt): Promise<boolean>;
  /** Rows of markers in the conversation, by their name. */
  markers?: Record<string, MarkerView>;
  /** Tabs of the panel next to the conversation. */
  panels?: readonly Panel[];
  /** Views that replace the conversation, opened from the list of sessions. */
  mainViews?: readonly MainView[];
  /** Drawn a single time for each session, regardless of the open tab; prop `session`. For overlays of the page. */
  overlay?: Component;
  /** Drawn among the buttons in the header of a session; prop `session`. */
  action?: Component;
  /** Drawn above the list of sessions, such as the sessions that wait. */
  sidebarTop?: Component;
  /** Palette, slash menu, keys and menus are drawn from the commands of all features. */
  commands?: readonly Command[];
  /** Lists of the palette. */
  paletteLists?: readonly PaletteList[];
  /** Parts of the settings screen. */
  settings?: readonly Setting[];
}

/** The place in which a command runs. */
export interface CommandContext {
  workbench: Workbench;
  /** The focused pane; undefined while no session is open. */
  pane: Pane | undefined;
  /** The session of the focused pane. */
  session: OpenSession | undefined;
}

/** Parts of the page, as marked by `data-region`. */
export type Region = 'sidebar' | 'conversation' | 'prompt' | 'panel' | 'drawer';

export interface Command {
  /** Unique, such as `review.open`. */
  id: string;
  title: PlainKey | (() => string);
  /** Name of an icon. */
  icon?: string;
  /**
   * Such as `Mod+Shift+D`: `Mod` is Command on a Mac, else Control; `Ctrl` is always Control. The last part is compared
   * with `event.code`.
   */
  keys?: string;
  /** The region in which its keys apply while it has the focus; default: everywhere. */
  scope?: Region;
  /** Whether it is listed in the menu of a session. */
  inSessionMenu?: boolean;
  /** Whether it also runs for the repeated events of keys that are held down. */
  repeats?: boolean;
  /** Default: always. */
  when?(context: CommandContext): boolean;
  run(context: CommandContext): void | Promise<void>;
}

/** A list of the palette, searched with the text after its mark. */
export interface PaletteList {
  /** The first character of the text, such as `/`. */
  mark: string;
  label: PlainKey;
  /** Resolves to undefined where there is nothing to search, such as without a session. */
  search(query: string, context: CommandContext): Promise<readonly PaletteItem[] | undefined>;
  /** Displayed in that case. */
  unavailable: PlainKey;
  /** Draws an item; prop `item`. */
  row: Component;
}

/** A line of such a list; the list's `row` reads the other members. */
export interface PaletteItem {
  readonly key: string;
  /** Replaces the query instead of closing the palette. */
  readonly query?: string;
  run(): void;
}

export interface Setting {
  /** Unique, such as `notifications`. */
  id: string;
  /** Heading under which it is listed. */
  group: PlainKey;
  title: PlainKey;
  /** Loaded when the settings are opened. */
  component: Component;
}

export interface Panel {
  /** Identifies the tab in the browser's storage. */
  id: string;
  label: string;
  /** Name of an icon. */
  icon?: string;
  /** Whether it displays a state of the pane's session or one of the whole server; default: `session`. */
  scope?: 'session' | 'app';
  /** The drawer is below the conversation, the side to its right. Default: `side`. */
  place?: 'side' | 'drawer';
  /** Keys that open and close it, as those of a command. */
  keys?: string;
  /** Keys that its parts handle while they have the focus, for the list of keys. */
  ownKeys?: readonly { keys: string; title: PlainKey }[];
  /**
   * Mounted when its tab is first opened, unmounted when the session is left (with the scope `app`: when the pane is
   * closed); props `session` and `shown`, whether the tab is visible.
   */
  component: Component;
}

export interface MainView {
  /** Its address in the page: `#/<id>`, lower-case letters. */
  id: string;
  label: string;
  /** A `main` element; its slot `lead` is drawn at the start of its header. */
  component: Component;
  /** Label of a button that opens the view while no model is set up. */
  setUp?: string;
}

/** The list over the composer that completes what is being typed. */
export interface Completion {
  /** Names the list for assistive technology. */
  label: string;
  /** The part of the text that the list completes; undefined closes it. */
  typedAt(text: string, caret: number): TypedPart | undefined;
  /** Minimum time between typing and a search, in ms; default: none. */
  delayMs?: number;
  /** Called each time the list opens; the returned function searches. A rejection is an empty list. */
  open(opened: {
    rest: Pick<Rest, 'request'>;
    view: SessionView;
    /** The commands that can run now. */
    commands: readonly Command[];
  }): (query: string) => Promise<readonly Candidate[]>;
  /** Draws a candidate; prop `candidate`. */
  row: Component;
}

/** A line of the list; the completion's `row` reads the other members. */
export interface Candidate {
  readonly key: string;
  /** Replaces the typed part. */
  readonly insertion: Insertion;
  /** Runs after the insertion. */
  readonly command?: Command;
}

export interface TypedPrompt {
  rest: Pick<Rest, 'request'>;
  sessionId: string;
  text: string;
  /** Parts other than text. */
  attachments: ContentPart[];
}

export interface MarkerView {
  /** Prop `marker`. */
  component: Component;
  /** Whether the marker has a row. */
  isDrawn(marker: Marker): boolean;
}

export interface Pending {
  /** Id of the request. */
  id: string;
  agentId: string;
  /** The waiting call, if any. */
  toolCallId?: string | undefined;
  /** Displayed in the call's card. */
  state: string;
  /** Displayed above the composer. */
  activity: string;
  /** The request's display, for a call whose arguments have not arrived yet. */
  request?: { toolName: string; display: Display };
}

export type FeatureSet = ReturnType<typeof gatherFeatures>;

/** Merges the contributions of a list of features, in the order of the list. */
export function gatherFeatures(list: readonly Feature[]) {
  const markers = new Map(list.flatMap((feature) => Object.entries(feature.markers ?? {})));
  return {
    toolViews: createToolViews(list),
    bodies: new Map(list.flatMap((feature) => Object.entries(feature.bodies ?? {}))),
    cards: list.flatMap((feature) => feature.cards ?? []),
    approvalCards: new Map<string, Component>(list.flatMap((feature) => Object.entries(feature.approvalCards ?? {}))),
    strips: list.flatMap((feature) => feature.strip ?? []),
    pickers: list.flatMap((feature) => feature.picker ?? []),
    /** The first completion of the text at the caret. */
    completionAt(text: string, caret: number): { completion: Completion; typed: TypedPart } | undefined {
      for (const { completion } of list) {
        const typed = completion?.typedAt(text, caret);
        if (completion && typed) return { completion, typed };
      }
      return undefined;
    },
    /** Whether a feature has sent what was typed. */
    async sendTyped(typed: TypedPrompt): Promise<boolean> {
      for (const feature of list) if (await feature.sendTyped?.(typed)) return true;
      return false;
    },
    markers,
    isDrawn: (marker: Marker): boolean => markers.get(marker.marker)?.isDrawn(marker) === true,
    panels: list.flatMap((feature) => feature.panels ?? []),
    mainViews: list.flatMap((feature) => feature.mainViews ?? []),
    overlays: list.flatMap((feature) => feature.overlay ?? []),
    actions: list.flatMap((feature) => feature.action ?? []),
    sidebarTops: list.flatMap((feature) => feature.sidebarTop ?? []),
    commands: list.flatMap((feature) => feature.commands ?? []),
    paletteLists: list.flatMap((feature) => feature.paletteLists ?? []),
    settings: list.flatMap((feature) => feature.settings ?? []),
    pending: (view: SessionView): Pending[] => list.flatMap((feature) => feature.pending?.(view) ?? []),
  };
}
