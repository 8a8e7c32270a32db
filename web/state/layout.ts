/** Sizes of the page's regions in pixels, and which regions are open, as they are stored. */
import { isObject } from './is-object.ts';
import { MOST_PANES } from './pane-address.ts';

export interface PaneLayout {
  /** Id of the open panel; null after the user closed it, undefined before a choice. */
  panel?: string | null;
  panelWidth: number;
  /** Id of the panel in the drawer. */
  drawer?: string | null;
  drawerHeight: number;
}

export interface Layout {
  sidebar: { isOpen: boolean; width: number };
  /** By slot. */
  panes: PaneLayout[];
  /** Relative widths of the panes, in their order. */
  shares: number[];
}

export const SIDEBAR = { min: 240, max: 400, initial: 272 };
export const PANE_MIN = 320;
export const PANEL_MIN = 260;
export const DRAWER_MIN = 120;
/** The conversation keeps at least these. */
export const CONVERSATION_MIN = { width: 320, height: 200 };
/** In a pane narrower than this, the panel covers the conversation. */
export const NARROW_PANE = CONVERSATION_MIN.width + PANEL_MIN;

const PANEL_INITIAL = 420;
const DRAWER_INITIAL = 260;

/** The number within the limits; the lower limit takes precedence. */
export const clamp = (value: number, min: number, max: number): number => Math.max(min, Math.min(max, value));

const numberOr = (value: unknown, otherwise: number): number =>
  typeof value === 'number' && Number.isFinite(value) ? value : otherwise;
const openOr = (value: unknown): string | null | undefined =>
  typeof value === 'string' || value === null ? value : undefined;

function parsePane(value: unknown): PaneLayout {
  const stored = isObject(value) ? value : {};
  const [panel, drawer] = [openOr(stored['panel']), openOr(stored['drawer'])];
  return {
    panelWidth: Math.max(PANEL_MIN, numberOr(stored['panelWidth'], PANEL_INITIAL)),
    drawerHeight: Math.max(DRAWER_MIN, numberOr(stored['drawerHeight'], DRAWER_INITIAL)),
    ...(panel !== undefined && { panel }),
    ...(drawer !== undefined && { drawer }),
  };
}

/** Reads a stored layout; initial sizes replace the damaged members. */
export function parseLayout(text: string | null): Layout {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? '{}');
  } catch {
    stored = {};
  }
  const { sidebar, panes, shares } = isObject(stored) ? stored : {};
  const side = isObject(sidebar) ? sidebar : {};
  return {
    sidebar: {
      isOpen: side['isOpen'] !== false,
      width: clamp(numberOr(side['width'], SIDEBAR.initial), SIDEBAR.min, SIDEBAR.max),
    },
    panes: Array.from({ length: MOST_PANES }, (_, slot) => parsePane(Array.isArray(panes) ? panes[slot] : undefined)),
    shares: Array.isArray(shares) ? shares.map((share) => Math.max(0, numberOr(share, 0))).slice(0, MOST_PANES) : [],
  };
}

/** Widths of the panes of a page in `total` pixels; equal widths if the shares are those of another number of panes. */
export function paneWidths(total: number, count: number, shares: readonly number[]): number[] {
  const sum = shares.reduce((all, share) => all + share, 0);
  const known = shares.length === count && sum > 0 ? shares.map((share) => share / sum) : [];
  const widths = Array.from({ length: count }, (_, index) => Math.round(total * (known[index] ?? 1 / count)));
  return widths.map((width) => Math.max(width, Math.min(PANE_MIN, Math.floor(total / count))));
}

/** Widths after the pane at `index` got another one at the expense of its right neighbour. */
export function withPaneWidth(widths: readonly number[], index: number, width: number): number[] {
  const [own = 0, neighbour = 0] = widths.slice(index, index + 2);
  const next = clamp(width, PANE_MIN, own + neighbour - PANE_MIN);
  return widths.map((before, at) => (at === index ? next : at === index + 1 ? own + neighbour - next : before));
}
