/** The state of a session's review: it outlives the panel, and its view settings are those of the browser. */
import { reactive, watch } from 'vue';
import type { Draft, Drafts } from '../../stores/drafts.ts';
import { scopedName } from '../../stores/page-root.ts';
import { parseComments, stringifyComments, type StoredComments } from './comments.ts';

export type Source = 'turn' | 'session' | 'tree';

export interface ReviewState extends StoredComments {
  source: Source;
  /** Path of the displayed file, by source. */
  paths: Partial<Record<Source, string>>;
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

/** The comments are stored like an unsent prompt, and restored in another page. */
export function reviewState(sessionId: string, drafts: Drafts): ReviewState {
  const known = states.get(sessionId);
  if (known) return known;
  const state = reactive<ReviewState>({ source: 'turn', paths: {}, comments: [], unfinished: {}, viewed: new Map() });
  states.set(sessionId, state);
  void keepComments(state, drafts.of(`review.${sessionId}`));
  return state;
}

async function keepComments(state: StoredComments, draft: Pick<Draft, 'text' | 'restored'>) {
  await draft.restored;
  const stored = parseComments(draft.text.value);
  // A person may have added some meanwhile.
  state.comments.unshift(...stored.comments);
  state.unfinished = { ...stored.unfinished, ...state.unfinished };
  watch(
    () => stringifyComments(state),
    (text) => (draft.text.value = text),
    { immediate: true },
  );
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
