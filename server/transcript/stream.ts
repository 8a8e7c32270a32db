/**
 * Operations of volatile events that precede their records: streamed texts and arguments, progress, phases. They change
 * the same state; the records that follow overwrite all of it.
 */
import type { VolatileFact } from '#server/journal/log-listeners.ts';
import type { VolatileFields } from '#schema/events/catalogue.ts';
import { agentMeta, findTool, openStep, type AgentTranscript } from './agent-transcript.ts';
import { isShort, lastPart } from './bounds.ts';
import { applyOps } from './reducer/apply.ts';
import type { StoredFrame, StoredOp, StoredStep, StoredToolFrame } from './reducer/state.ts';

/** Length of a call's arguments that is retained, from their end. */
const INPUT_CHARS = 65_536;

/** Maps a volatile event of the running step and applies its operations. */
export function mapVolatile(agent: AgentTranscript, fact: VolatileFact): StoredOp[] {
  const ops = made(agent, fact);
  applyOps(agent.state, ops);
  return ops;
}

function made(agent: AgentTranscript, { type, fields }: VolatileFact): StoredOp[] {
  switch (type) {
    case 'assistant.delta':
      return written(agent, 'text', fields.delta);
    case 'thinking.delta':
      return written(agent, 'thinking', fields.delta);
    case 'tool.call.delta':
      return argued(agent, fields);
    case 'tool.progress':
      return progressed(agent, fields);
    case 'agent.status.updated':
      return fields.phase ? agentMeta(agent, { phase: fields.phase }) : [];
  }
}

/** The step that a response streams into; undefined while it waits for its retry. */
function streamingStep(agent: AgentTranscript): StoredStep | undefined {
  const step = openStep(agent);
  return step?.retry ? undefined : step;
}

function written(agent: AgentTranscript, kind: 'text' | 'thinking', text: string): StoredOp[] {
  const step = streamingStep(agent);
  if (!step || text === '') return [];
  const { stream } = agent;
  const { turnId, stepId } = step;
  const begins = stream.kind !== kind;
  const before = begins ? flushed(agent, step) : [];
  if (begins) {
    stream.kind = kind;
    stream.frames += 1;
  }
  const frameId = `${stepId}.f${agent.userFrames + stream.frames}`;
  const target = { type: 'frame' as const, turnId, stepId, frameId };
  stream.grown.add(frameId);
  if (begins) {
    const frame: StoredFrame =
      kind === 'text' ? { kind, frameId, role: 'assistant', text: '' } : { kind, frameId, text: '' };
    return [...before, { op: 'frame.upsert', turnId, stepId, frame }, { op: 'append', target, offset: 0, text }];
  }
  const known = step.frames.findLast((frame) => frame.frameId === frameId);
  const offset = known && 'text' in known && typeof known.text === 'string' ? known.text.length : 0;
  return [{ op: 'append', target, offset, text }];
}

/** Upserts of the frames whose text has grown, with their whole text. */
function flushed(agent: AgentTranscript, { turnId, stepId, frames }: StoredStep): StoredOp[] {
  const { grown } = agent.stream;
  const ops = frames.flatMap((frame): StoredOp[] =>
    grown.has(frame.frameId) ? [{ op: 'frame.upsert', turnId, stepId, frame }] : [],
  );
  grown.clear();
  return ops;
}

function argued(agent: AgentTranscript, fields: VolatileFields<'tool.call.delta'>): StoredOp[] {
  const step = streamingStep(agent);
  if (!step) return [];
  const { toolCallId, name, argumentsPart = '' } = fields;
  const { turnId, stepId } = step;
  const frameId = `${stepId}.${toolCallId}`;
  const known = step.frames.findLast((frame) => frame.frameId === frameId);
  const before: StoredToolFrame =
    known?.kind === 'tool' ? known : { kind: 'tool', frameId, toolCallId, name: '', state: 'running' };
  if (before.state !== 'running') return [];
  const inputText = `${before.inputText ?? ''}${argumentsPart}`.slice(-INPUT_CHARS);
  const frame = { ...before, name: name ?? before.name, inputText };
  return [...flushed(agent, step), { op: 'frame.upsert', turnId, stepId, frame }];
}

function progressed(agent: AgentTranscript, fields: VolatileFields<'tool.progress'>): StoredOp[] {
  const found = findTool(agent, fields.toolCallId);
  if (found?.frame.state !== 'running') return [];
  const { frame, ...place } = found;
  const { kind, text, percent, customKind, customData } = fields.update;
  const progress = {
    kind,
    ...(text === undefined ? {} : { text: lastPart(text) }),
    ...(percent === undefined ? {} : { percent }),
    ...(customKind === undefined ? {} : { customKind }),
    ...(customData !== undefined && isShort(customData) ? { customData } : {}),
  };
  return [{ op: 'frame.upsert', ...place, frame: { ...frame, progress } }];
}
