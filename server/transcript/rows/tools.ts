/** Tool calls, admitted and ended. */
import type { EventRecord } from '#server/journal/records.ts';
import { findTool, toolOps, type AgentTranscript } from '../agent-transcript.ts';
import type { TranscriptRows } from '../transcript-rows.ts';
import type { HeldOp } from '../reducer/state.ts';

function started(agent: AgentTranscript, record: EventRecord<'tool.call.started'>): HeldOp[] {
  const { toolCallId, args, display } = record;
  return toolOps(agent, toolCallId, {
    ...(args === undefined ? {} : { input: args }),
    ...(display === undefined ? {} : { display }),
  });
}

function ended(agent: AgentTranscript, record: EventRecord<'tool.result'>): HeldOp[] {
  const found = findTool(agent, record.toolCallId);
  if (found?.frame.state !== 'running') return [];
  const { frame, turnId, stepId } = found;
  const { inputText: _inputText, progress: _progress, ...rest } = frame;
  const { output, isError } = record;
  // The text of an error stands in `error` too, where it is shown.
  const end = { ...rest, state: isError ? 'error' : 'done', output } as const;
  return [{ op: 'frame.upsert', turnId, stepId, frame: end }];
}

export const toolRows: TranscriptRows = { 'tool.call.started': started, 'tool.result': ended };
