/** The state of a session's review: it outlives the panel, and its view settings are those of the browser. */
import { reactive, watch } from 'vue';
import type { Draft, Drafts } from '../../stores/drafts.ts';
import { scopedName } from '../../stores/page-root.ts';
import { numbered, parseComments, stringifyComments, type LineComment } from './comments.ts';

export type Source = 'turn' | 'session' | 'tree';

export interface ReviewState {
  source: Source;
  /** Path of the displayed file, by source. */
  paths: Partial<Record<Source, string>>;
  /** The comments that were not sent. */
  comments: LineComment[];
  /** By source and path. */
  viewed: Map<string, ViewedFile>;
}

/** The content that a person has viewed: a file whose content differs is not viewed. */
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
  const state = reactive<ReviewState>({ source: 'turn', paths: {}, comments: [], viewed: new Map() });
  states.set(sessionId, state);
  void keepComments(state, drafts.of(`review.${sessionId}`));
  return state;
}

async function keepComments(state: ReviewState, draft: Pick<Draft, 'text' | 'restored'>) {
  await draft.restored;
  // A person may have added some meanwhile.
  state.comments = numbered([...parseComments(draft.text.value), ...state.comments]);
  watch(
    () => stringifyComments(state.comments),
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
