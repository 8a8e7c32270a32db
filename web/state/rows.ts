/** The rows of a conversation, as the page draws them. */
import type { Frame, Item, Step } from '@service-code/client';
import type { Message } from '../messages/messages.ts';

export type Turn = Extract<Item, { kind: 'turn' }>;
export type Marker = Extract<Item, { kind: 'marker' }>;
export type ToolFrame = Extract<Frame, { kind: 'tool' }>;
export type ThinkingFrame = Extract<Frame, { kind: 'thinking' }>;
export type { Step };

export type Tone = 'error' | 'warning' | 'info';

export interface PromptRow {
  kind: 'prompt';
  key: string;
  text: string;
  attachmentIds: readonly string[];
  /** Whether a person wrote it, so that it can be reverted. */
  own: boolean;
  /** The sender, unless it is a person. */
  sender?: readonly Message[];
}

/** The line of a turn about its work, which unfolds the rest of it. */
export interface WorkRow {
  kind: 'work';
  key: string;
  turnId: string;
  state: Turn['state'];
  startedAt: string | undefined;
  durationMs: number | undefined;
  usage: Turn['usage'];
  steps: number;
  /** Files that its calls have written, and their changed lines. */
  files: number;
  added: number;
  removed: number;
  isOpen: boolean;
  /** Whether unfolding displays more rows. */
  hasMore: boolean;
}

export interface TextRow {
  kind: 'text';
  key: string;
  text: string;
  /** Whether it is still being written. */
  running: boolean;
  /** Whether no call follows it in its turn. */
  isAnswer: boolean;
}

/** Thinking, and calls that only read, in a single line. */
export interface GroupRow {
  kind: 'group';
  key: string;
  frames: readonly (ThinkingFrame | ToolFrame)[];
  running: boolean;
}

export interface CallRow {
  kind: 'call';
  key: string;
  frame: ToolFrame;
}

export interface NoticeRow {
  kind: 'notice';
  key: string;
  tone: Tone;
  /** A text of the server, or one of the page. */
  text: string | Message;
}

export interface CompactedRow {
  kind: 'compacted';
  key: string;
  summary: string;
  tokens: { before: number; after: number } | undefined;
}

export interface MarkerRow {
  kind: 'marker';
  key: string;
  marker: Marker;
}

export type Row = PromptRow | WorkRow | TextRow | GroupRow | CallRow | NoticeRow | CompactedRow | MarkerRow;

/** The frames that a row draws, by id. */
export function frameIdsOf(row: Row): readonly string[] {
  return row.kind === 'group' ? row.frames.map(({ frameId }) => frameId) : [row.key];
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  (Array.isArray(one) &&
    Array.isArray(other) &&
    one.length === other.length &&
    one.every((value, at) => value === other[at]));

/** Returns the former row where both are equal, so that a component does not draw it again. */
export function reuseRows(before: readonly Row[], rows: readonly Row[]): readonly Row[] {
  const known = new Map(before.map((row) => [row.key, row]));
  return rows.map((row) => {
    const former = known.get(row.key);
    if (former?.kind !== row.kind) return row;
    const names = Object.keys(row);
    const isEqual =
      names.length === Object.keys(former).length &&
      names.every((name) => isSame(Reflect.get(row, name), Reflect.get(former, name)));
    return isEqual ? former : row;
  });
}
