/** The changes of files by a session's agent, read from its Write and Edit calls. */
import type { Item } from '@service-code/client';
import { toolCallOf } from '../../state/tool-call.ts';
import type { ToolFrame } from '../../state/timeline.ts';
import { countLines, replacedRows, writtenRows, type DiffRow } from './diff-rows.ts';

export interface EditedFile {
  /** Relative to the session's folder, or absolute outside it. */
  path: string;
  /** Whether a call has written the whole file. */
  isWritten: boolean;
  /** The calls, in order. */
  frames: readonly ToolFrame[];
}

/** The change of one call. */
interface Edit {
  path: string;
  isWrite: boolean;
  rows(): DiffRow[];
}

const textIn = (input: object, name: string): string => {
  const value: unknown = Reflect.get(input, name);
  return typeof value === 'string' ? value : '';
};

/** Undefined for calls that have not changed a file. */
function readEdit(frame: ToolFrame): Edit | undefined {
  if (frame.state !== 'done') return undefined;
  const { name, input, display } = toolCallOf(frame);
  if ((name !== 'Write' && name !== 'Edit') || typeof input !== 'object' || input === null) return undefined;
  // The display has the resolved path.
  const path = display?.kind === 'file_io' ? display.path : textIn(input, 'path');
  if (name === 'Edit') {
    return { path, isWrite: false, rows: () => replacedRows(textIn(input, 'old_string'), textIn(input, 'new_string')) };
  }
  const content = textIn(input, 'content');
  const isWrite = textIn(input, 'mode') !== 'append';
  return { path, isWrite, rows: () => (isWrite ? writtenRows(content) : replacedRows('', content)) };
}

/** A frame is replaced when it changes. */
const edits = new WeakMap<ToolFrame, Edit | 'none'>();
const rowsByFrame = new WeakMap<ToolFrame, DiffRow[]>();

function editOf(frame: ToolFrame): Edit | undefined {
  let edit = edits.get(frame);
  if (edit === undefined) {
    edit = readEdit(frame) ?? 'none';
    edits.set(frame, edit);
  }
  return edit === 'none' ? undefined : edit;
}

function rowsOf(frame: ToolFrame): DiffRow[] {
  const rows = rowsByFrame.get(frame) ?? editOf(frame)?.rows() ?? [];
  rowsByFrame.set(frame, rows);
  return rows;
}

const relativeTo = (cwd: string, path: string) => {
  const folder = cwd.endsWith('/') ? cwd : `${cwd}/`;
  return path.startsWith(folder) ? path.slice(folder.length) : path;
};

/** The calls that have changed a file, of the last turn or of all that are loaded. */
export function editingFrames(items: readonly Item[], scope: 'turn' | 'session'): ToolFrame[] {
  const turns = items.filter((item) => item.kind === 'turn');
  const frames = (scope === 'turn' ? turns.slice(-1) : turns).flatMap((turn) =>
    turn.steps.flatMap((step) => step.frames),
  );
  return frames.filter((frame): frame is ToolFrame => frame.kind === 'tool' && editOf(frame) !== undefined);
}

/** Groups calls by file, in the order of each file's first change. */
export function editedFiles(frames: readonly ToolFrame[], cwd: string): EditedFile[] {
  const files = new Map<string, ToolFrame[]>();
  for (const frame of frames) {
    const edit = editOf(frame);
    if (edit) files.set(edit.path, [...(files.get(edit.path) ?? []), frame]);
  }
  return [...files].map(([path, calls]) => ({
    path: relativeTo(cwd, path),
    isWritten: calls.some((frame) => editOf(frame)?.isWrite === true),
    frames: calls,
  }));
}

/** The changes of one file, each after a line that `heading` returns. */
export function editedRows(
  { frames }: Pick<EditedFile, 'frames'>,
  heading: (call: { tool: string; at: number; count: number }) => string,
): DiffRow[] {
  return frames.flatMap((frame, at) => [
    { kind: 'place' as const, text: heading({ tool: frame.name, at: at + 1, count: frames.length }) },
    ...rowsOf(frame),
  ]);
}

export const editedCount = ({ frames }: Pick<EditedFile, 'frames'>) => countLines(frames.flatMap(rowsOf));
