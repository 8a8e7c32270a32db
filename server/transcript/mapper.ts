/**
 * Maps records to operations. The rows define the operations of each record type; they are the only code of the
 * transcript that depends on records. Rows of features follow those of the core, in the order of the features.
 */
import type { JournalRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import { applyOp } from './reducer/apply.ts';
import type { StoredOp } from './reducer/state.ts';
import { agentRows } from './rows/agent.ts';
import { approvalRows } from './rows/approvals.ts';
import { noticeRows } from './rows/notices.ts';
import { promptRows } from './rows/prompts.ts';
import { rosterRows } from './rows/roster.ts';
import { stepRows } from './rows/steps.ts';
import { toolRows } from './rows/tools.ts';
import { turnRows } from './rows/turns.ts';
import { createUndoRows, noteMade } from './rows/undo.ts';
import type { TranscriptFeature, RecordMappers } from './transcript-rows.ts';

/** Maps a record and applies its operations; the operations of one record are one batch. */
export type Mapper = (agent: AgentTranscript, record: JournalRecord, t: number) => StoredOp[];

/** Order of the operations of one record: a prompt precedes the turn that it opens. */
const coreRows: readonly RecordMappers[] = [
  rosterRows,
  promptRows,
  turnRows,
  stepRows,
  toolRows,
  approvalRows,
  noticeRows,
  agentRows,
];

/** The tables of the core, followed by those of the features. */
function tablesOf(features: readonly TranscriptFeature[]): RecordMappers[] {
  const undoRows = createUndoRows(features.flatMap(({ transcriptUndo }) => transcriptUndo ?? []));
  return [...coreRows, undoRows, ...features.flatMap(({ transcript }) => transcript ?? [])];
}

/** The types of the records that have a row. */
export const typesWithRow = (features: readonly TranscriptFeature[]): string[] =>
  tablesOf(features).flatMap((table) => Object.keys(table));

/** Creates the mapper of a program with these features. */
export function createMapper(features: readonly TranscriptFeature[]): Mapper {
  const rows = rowsByType(tablesOf(features));
  return (agent, record, t) => {
    const ops: StoredOp[] = [];
    agent.records += 1;
    const ofType = rows.get(record.type);
    if (!ofType) return ops;
    for (const row of ofType) {
      for (const op of row(agent, record, t)) {
        applyOp(agent.state, op);
        noteMade(agent, op);
        add(ops, op);
      }
    }
    return ops;
  };
}

/** Merges the tables; each row is called only with records of its own type. */
function rowsByType(tables: readonly RecordMappers[]): Map<string, Mapper[]> {
  const rows = new Map<string, Mapper[]>();
  for (const [type, row] of tables.flatMap((table) => Object.entries(table))) {
    rows.set(type, [...(rows.get(type) ?? []), row as Mapper]);
  }
  return rows;
}

/** Consecutive upserts of one frame are sent as one. */
function add(ops: StoredOp[], op: StoredOp): void {
  const last = ops.at(-1);
  const again = op.op === 'frame.upsert' && last?.op === 'frame.upsert' && last.frame.frameId === op.frame.frameId;
  if (again) ops[ops.length - 1] = op;
  else ops.push(op);
}
