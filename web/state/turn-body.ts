/** The rows of a turn: its prompt, a line about its work, the work, the answer. Folded, only a part of the work is left. */
import type { Frame } from '@service-code/client';
import { lineDiff } from '../render/line-diff.ts';
import { message, type Message } from '../messages/messages.ts';
import type { GroupRow, NoticeRow, Row, Step, ToolFrame, Turn, WorkRow } from './rows.ts';

/** `all`: each part in a row of its own; `summary`: the work is folded while it runs, too. */
export const VIEW_MODES = ['all', 'normal', 'summary'] as const;
export type ViewMode = (typeof VIEW_MODES)[number];

/** The effect of a call, as far as it decides about folding. */
export interface CallEffect {
  /** Default: unknown. */
  effect?: 'reads' | 'changes' | 'asks';
  /** The file that it writes. */
  path?: string | undefined;
  change?: { before: string; after: string } | undefined;
}

export interface TurnInputs {
  turn: Turn;
  mode: ViewMode;
  /** Whether the user has unfolded it; undefined: neither that nor folded it. */
  isOpen: boolean | undefined;
  /** Ids of the approvals and questions that wait. */
  pending: ReadonlySet<string>;
  effectOf(frame: ToolFrame): CallEffect;
}

/** Counting the lines of longer texts would block the page. */
const COUNTED_CHARS = 200_000;
const COUNT_MS = 10;

export function turnRows(inputs: TurnInputs): Row[] {
  const { turn, mode, isOpen } = inputs;
  const body = turn.steps.flatMap((step) => partsOf(step, inputs));
  const rows = mode === 'all' ? body.map(({ row }) => row) : grouped(body);
  markAnswer(rows, turn.state === 'running');
  const end = endRows(turn);
  if (body.length === 0) return [...openingRows(turn), ...end];

  const open = isOpen ?? (mode === 'all' || (mode === 'normal' && turn.state === 'running'));
  const visible = rows.filter((row) => staysVisible(row, inputs));
  const work = workRow(inputs, open, visible.length < rows.length);
  return [...openingRows(turn), work, ...(open ? rows : visible), ...end];
}

/** A row before grouping: `folds` if it may share a line with its neighbours. */
interface Part {
  row: Row;
  folds: boolean;
}

function partsOf({ frames, state }: Step, inputs: TurnInputs): Part[] {
  const last = frames.at(-1);
  return frames.flatMap((frame): Part[] => {
    const row = rowOf(frame, state === 'running' && frame === last);
    if (!row) return [];
    // The output of a failed attempt is void, since it was retried.
    if (state === 'failed' && !isEntered(frame)) return [];
    return [{ row, folds: frame.kind === 'thinking' || (frame.kind === 'tool' && onlyReads(frame, inputs)) }];
  });
}

const isEntered = (frame: Frame) => frame.kind === 'text' && frame.role === 'user';

function rowOf(frame: Frame, running: boolean): Row | undefined {
  const key = frame.frameId;
  switch (frame.kind) {
    case 'tool':
      return { kind: 'call', key, frame };
    case 'thinking':
      return frame.text.trim() === '' ? undefined : { kind: 'group', key, frames: [frame], running };
    case 'notice':
      return { kind: 'notice', key, tone: frame.level, text: frame.message };
    case 'text':
      if (frame.role === 'user') return enteredRow(frame);
      return frame.text.trim() === '' ? undefined : { kind: 'text', key, text: frame.text, running, isAnswer: false };
  }
}

/** Input of the running turn: a prompt, or the notice that a task has ended. */
function enteredRow({ frameId: key, text, attachmentIds = [], taskId }: Extract<Frame, { kind: 'text' }>): Row {
  if (taskId === undefined) return { kind: 'prompt', key, text, attachmentIds, own: true };
  return { kind: 'notice', key, tone: 'info', text: text.split('\n')[0] ?? '' };
}

const isWaiting = ({ approvalId }: ToolFrame, { pending }: TurnInputs) =>
  approvalId !== undefined && pending.has(approvalId);

const onlyReads = (frame: ToolFrame, inputs: TurnInputs) =>
  frame.state !== 'error' && frame.approvalId === undefined && inputs.effectOf(frame).effect === 'reads';

/** Joins thinking and calls that only read with those that directly follow. */
function grouped(parts: readonly Part[]): Row[] {
  const rows: Row[] = [];
  let open: GroupRow | undefined;
  for (const { row, folds } of parts) {
    const frames = row.kind === 'group' ? row.frames : row.kind === 'call' ? [row.frame] : [];
    if (!folds) {
      open = undefined;
      rows.push(row);
      continue;
    }
    const running =
      row.kind === 'group' ? row.running : frames.some((frame) => 'state' in frame && frame.state === 'running');
    if (open) rows.pop();
    open = {
      kind: 'group',
      key: open?.key ?? row.key,
      frames: [...(open?.frames ?? []), ...frames],
      running: running || open?.running === true,
    };
    rows.push(open);
  }
  return rows;
}

/** The texts after the last call are the answer; while a turn runs, each text may be. */
function markAnswer(rows: Row[], isRunning: boolean): void {
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if (row?.kind === 'text') row.isAnswer = true;
    else if (row?.kind !== 'notice' && !isRunning) return;
  }
}

/** Whether a row is displayed while its turn is folded. */
function staysVisible(row: Row, inputs: TurnInputs): boolean {
  switch (row.kind) {
    case 'text':
      return row.isAnswer;
    case 'notice':
      return row.tone !== 'info';
    case 'call': {
      const { frame } = row;
      if (frame.state === 'error' || isWaiting(frame, inputs)) return true;
      if (inputs.mode === 'summary') return false;
      // A person has decided about it.
      if (frame.approvalId !== undefined) return true;
      const { effect } = inputs.effectOf(frame);
      return effect === 'changes' || effect === 'asks';
    }
    default:
      return row.kind !== 'group';
  }
}

function openingRows({ turnId, prompt = '', attachmentIds = [], origin }: Turn): Row[] {
  if (prompt === '' && attachmentIds.length === 0) return [];
  const { payload } = origin;
  const own = payload === undefined ? origin.kind === 'user' : payload.kind === 'user' || 'trigger' in payload;
  const sender = payload?.kind === 'cron_job' ? jobOf(payload) : undefined;
  return [{ kind: 'prompt', key: turnId, text: prompt, attachmentIds, own, ...(sender && { sender }) }];
}

const jobOf = ({
  cron,
  coalescedCount,
  stale,
}: {
  cron: string;
  coalescedCount: number;
  stale: boolean;
}): Message[] => [
  message('conversation.job', { cron }),
  ...(coalescedCount > 1 ? [message('conversation.jobTimes', { count: coalescedCount })] : []),
  ...(stale ? [message('conversation.jobLast')] : []),
];

function endRows({ turnId, state, error }: Turn): NoticeRow[] {
  if (state !== 'failed') return [];
  const key = `${turnId}.end`;
  if (error === undefined) return [{ kind: 'notice', key, tone: 'warning', text: message('conversation.hookBlocked') }];
  return [{ kind: 'notice', key, tone: 'error', text: error }];
}

function workRow({ turn, effectOf }: TurnInputs, isOpen: boolean, hasMore: boolean): WorkRow {
  const { turnId, state, startedAt, durationMs, usage, steps } = turn;
  const paths = new Set<string>();
  let [added, removed] = [0, 0];
  for (const frame of steps.flatMap((step) => step.frames)) {
    if (frame.kind !== 'tool' || frame.state !== 'done') continue;
    const { effect, path, change } = effectOf(frame);
    if (effect !== 'changes' || path === undefined) continue;
    paths.add(path);
    const lines = change && countLines(frame, change);
    added += lines?.added ?? 0;
    removed += lines?.removed ?? 0;
  }
  return {
    kind: 'work',
    key: `${turnId}.work`,
    turnId,
    state,
    startedAt,
    durationMs,
    usage,
    steps: steps.filter((step) => step.state !== 'failed').length,
    files: paths.size,
    added,
    removed,
    isOpen,
    hasMore,
  };
}

interface LineCounts {
  added: number;
  removed: number;
}

/** Frames are replaced when they change. */
const counted = new WeakMap<ToolFrame, LineCounts>();

function countLines(frame: ToolFrame, { before, after }: { before: string; after: string }): LineCounts {
  const known = counted.get(frame);
  if (known) return known;
  const counts = { added: 0, removed: 0 };
  if (before.length + after.length <= COUNTED_CHARS) {
    for (const { kind } of lineDiff(before, after, COUNT_MS))
      if (kind === 'added' || kind === 'removed') counts[kind] += 1;
  }
  counted.set(frame, counts);
  return counts;
}
