/** Rows of tool calls: started and ended. */
import type { EventRecord } from '#server/journal/records.ts';
import { findTool, toolOps, type AgentTranscript } from '../agent-transcript.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import type { StoredOp, StoredToolFrame } from '../reducer/state.ts';

function started(agent: AgentTranscript, record: EventRecord<'tool.call.started'>): StoredOp[] {
  const { toolCallId, args, display } = record;
  const change: Partial<StoredToolFrame> = {};
  if (args !== undefined) change.input = args;
  if (display !== undefined) change.display = display;
  return toolOps(agent, toolCallId, change);
}

function ended(agent: AgentTranscript, record: EventRecord<'tool.result'>): StoredOp[] {
  const found = findTool(agent, record.toolCallId);
  if (found?.frame.state !== 'running') return [];
  const { frame, turnId, stepId } = found;
  const { output, isError } = record;
  // The text of an error is added as `error` when the frame is sent.
  const end: StoredToolFrame = { ...frame, state: isError ? 'error' : 'done', output };
  // Conditional, because deleting members is slow.
  if ('inputText' in end) delete end.inputText;
  if ('progress' in end) delete end.progress;
  return [{ op: 'frame.upsert', turnId, stepId, frame: end }];
}

export const toolRows: RecordMappers = { 'tool.call.started': started, 'tool.result': ended };
