/**
 * From records to operations. The rows say what a record of each type makes; they are the only code of the transcript that
 * knows records. A feature's rows come behind the core's, in the order of the features.
 */
import type { JournalRecord } from '#server/journal/records.ts';
import type { AgentTranscript } from './agent-transcript.ts';
import { applyOp } from './reducer/apply.ts';
import type { HeldOp } from './reducer/state.ts';
import { agentRows } from './rows/agent.ts';
import { approvalRows } from './rows/approvals.ts';
import { noticeRows } from './rows/notices.ts';
import { promptRows } from './rows/prompts.ts';
import { rosterRows } from './rows/roster.ts';
import { stepRows } from './rows/steps.ts';
import { toolRows } from './rows/tools.ts';
import { turnRows } from './rows/turns.ts';
import { noteMade, undoRows } from './rows/undo.ts';
import type { TranscriptRows } from './transcript-rows.ts';

/** Maps a record and applies what it makes; the operations of one record are one batch. */
export type Mapper = (agent: AgentTranscript, record: JournalRecord, t: number) => HeldOp[];

/** In the order in which operations of one record stand: a prompt is told of before the turn that it opens. */
const coreRows: readonly TranscriptRows[] = [
  rosterRows,
  promptRows,
  turnRows,
  stepRows,
  toolRows,
  approvalRows,
  noticeRows,
  agentRows,
  undoRows,
];

/** The mapper of a program with these features. */
export function createMapper(features: readonly TranscriptRows[]): Mapper {
  const rows = rowsByType([...coreRows, ...features]);
  return (agent, record, t) => {
    const ops: HeldOp[] = [];
    agent.records += 1;
    for (const row of rows.get(record.type) ?? []) {
      for (const op of row(agent, record, t)) {
        applyOp(agent.state, op);
        noteMade(agent, op);
        add(ops, op);
      }
    }
    return ops;
  };
}

/** The tables as one; each row is called with records of its own type alone. */
function rowsByType(tables: readonly TranscriptRows[]): Map<string, Mapper[]> {
  const rows = new Map<string, Mapper[]>();
  for (const [type, row] of tables.flatMap((table) => Object.entries(table))) {
    rows.set(type, [...(rows.get(type) ?? []), row as Mapper]);
  }
  return rows;
}

/** A frame that two rows change one after the other goes out once. */
function add(ops: HeldOp[], op: HeldOp): void {
  const last = ops.at(-1);
  const again = op.op === 'frame.upsert' && last?.op === 'frame.upsert' && last.frame.frameId === op.frame.frameId;
  if (again) ops[ops.length - 1] = op;
  else ops.push(op);
}
