/** The state of a session's review: it outlives the panel, and its view settings are those of the browser. */
import { reactive, watch } from 'vue';
import { scopedName } from '../../stores/page-root.ts';
import type { LineComment } from './comments.ts';

export type Source = 'turn' | 'session' | 'tree';

export interface ReviewState {
  source: Source;
  /** Path of the displayed file, by source. */
  paths: Partial<Record<Source, string>>;
  comments: LineComment[];
  /** By source and path. */
  viewed: Map<string, ViewedFile>;
}

/** The content that was viewed; another one is not. */
export interface ViewedFile {
  version: string;
  /** The displayed lines; undefined until they were read. */
  lines: string | undefined;
}

export interface ReviewView {
  columns: 1 | 2;
  wraps: boolean;
}

const states = new Map<string, ReviewState>();

export function reviewState(sessionId: string): ReviewState {
  const known = states.get(sessionId);
  if (known) return known;
  const state = reactive<ReviewState>({ source: 'turn', paths: {}, comments: [], viewed: new Map() });
  states.set(sessionId, state);
  return state;
}

let view: ReviewView | undefined;

/** One value for the whole page. */
export function useReviewView(): ReviewView {
  if (view) return view;
  const key = scopedName('review');
  const [columns, wrap] = (localStorage.getItem(key) ?? '').split(' ');
  const created = reactive<ReviewView>({ columns: columns === '2' ? 2 : 1, wraps: wrap === 'wrap' });
  watch(created, ({ columns, wraps }) => localStorage.setItem(key, `${columns} ${wraps ? 'wrap' : 'cut'}`));
  view = created;
  return view;
}
