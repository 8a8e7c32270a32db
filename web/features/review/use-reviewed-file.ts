/** The files of the chosen source, and the lines of the displayed one. */
import { computed, shallowRef, watch, type Ref } from 'vue';
import { ApiError, isUnauthorized, type GitStatusReply } from '@service-code/client';
import { t } from '../../messages/messages.ts';
import type { ToolFrame } from '../../state/timeline.ts';
import { useSessionState } from '../../stores/session-state.ts';
import type { OpenSession } from '../../stores/session.ts';
import { useWorkbench } from '../../stores/workbench.ts';
import { gitDiff, gitStatus } from '../workspace/requests.ts';
import { unifiedRows, type DiffRow } from './diff-rows.ts';
import { editedCount, editedFiles, editedRows, editingFrames } from './edits.ts';
import { displayedPath, isFolder, treeFiles, type ReviewedFile } from './files.ts';
import type { ReviewState, Source } from './review-store.ts';

const NO_GIT = 40908;

/** Lines of the displayed file. */
export interface DisplayedLines {
  source: Source;
  path: string;
  rows: readonly DiffRow[];
  /** Whether lines are missing at the end. */
  isCut: boolean;
}

const sameFrames = (one: readonly ToolFrame[], other: readonly ToolFrame[]) =>
  one.length === other.length && one.every((frame, at) => frame === other[at]);

export function useReviewedFile(session: OpenSession, state: ReviewState, isShown: Readonly<Ref<boolean>>) {
  const { client, report } = useWorkbench();

  /** The error of the last read of the work tree; undefined for the other sources. */
  const failure = shallowRef<unknown>();
  function failed(error: unknown) {
    if (isUnauthorized(error)) report(error);
    if (state.source === 'tree') failure.value = error;
  }

  /** Without a status for a folder that is not under git. */
  async function readTree(): Promise<{ status: GitStatusReply | undefined }> {
    try {
      return { status: await gitStatus(client.rest, session.id) };
    } catch (error) {
      if (error instanceof ApiError && error.code === NO_GIT) return { status: undefined };
      throw error;
    }
  }
  const tree = useSessionState({ load: readTree, active: () => isShown.value && state.source === 'tree', failed });

  /** The same array until a call changes: the view of the session changes with each streamed word. */
  const frames = computed<readonly ToolFrame[]>((before = []) => {
    if (!isShown.value) return before;
    const found = editingFrames(session.view.value.main.items, state.source === 'turn' ? 'turn' : 'session');
    return sameFrames(found, before) ? before : found;
  });
  const edited = computed(() => editedFiles(frames.value, session.cwd.value ?? ''));

  const files = computed((): readonly ReviewedFile[] => {
    if (state.source === 'tree')
      return tree.value.value?.status ? treeFiles(tree.value.value.status, edited.value) : [];
    return edited.value.map((file) => ({
      path: file.path,
      mark: file.isWritten ? 'written' : 'edited',
      counts: editedCount(file),
      version: file.frames.map(({ toolCallId }) => toolCallId).join(' '),
    }));
  });
  const path = computed(() => displayedPath(files.value, state.paths[state.source]));

  const lines = shallowRef<DisplayedLines>();
  /** Increases with each read of a difference; the reply of an earlier one is ignored. */
  let reads = 0;

  async function readDiff(file: string) {
    const read = reads;
    try {
      const { diff, truncated } = await gitDiff(client.rest, session.id, file);
      if (read !== reads) return;
      lines.value = { source: 'tree', path: file, rows: unifiedRows(diff), isCut: truncated };
    } catch (error) {
      if (read === reads) failed(error);
    }
  }

  watch(
    [path, files],
    () => {
      const { source } = state;
      const file = path.value;
      reads += 1;
      failure.value = undefined;
      // Lines of the same file stay until they are read again.
      if (lines.value?.source !== source || lines.value.path !== file) lines.value = undefined;
      if (file === undefined || isFolder(file)) return;
      if (source === 'tree') return void readDiff(file);
      const found = edited.value.find((other) => other.path === file);
      const heading = (call: { tool: string; at: number; count: number }) => t('review.edit', call);
      lines.value = { source, path: file, rows: found ? editedRows(found, heading) : [], isCut: false };
    },
    { immediate: true },
  );

  return {
    files,
    path,
    /** Undefined while they are read. */
    lines,
    /** A successful refresh clears it. */
    failure,
    /** Whether the folder is known to have no repository. */
    hasNoGit: computed(() => tree.value.value !== undefined && tree.value.value.status === undefined),
    /** Whether the files of the source are known. */
    isRead: computed(() => state.source !== 'tree' || tree.value.value !== undefined),
    refresh: tree.refresh,
  };
}
