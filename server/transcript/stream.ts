/**
 * Operations of volatile events that precede their records: streamed texts and arguments, progress, phases. They change
 * the same state; the records that follow overwrite all of it.
 */
import type { VolatileEvent } from '#server/journal/log-listeners.ts';
import type { VolatileFields, VolatileType } from '#schema/events/catalogue.ts';
import { agentMeta, findTool, openStep, type AgentTranscript } from './agent-transcript.ts';
import { isShort, lastPart } from './bounds.ts';
import { applyOps } from './reducer/apply.ts';
import type { StoredFrame, StoredOp, StoredStep, StoredToolFrame } from './reducer/state.ts';

/** Length of a call's arguments that is retained, from their end. */
const INPUT_CHARS = 65_536;

/** The operations of each volatile event in the transcript of its agent. */
type VolatileRows = {
  readonly [T in VolatileType]: (agent: AgentTranscript, fields: VolatileFields<T>) => StoredOp[];
};

export const volatileRows: VolatileRows = {
  'assistant.delta': (agent, { delta }) => written(agent, 'text', delta),
  'thinking.delta': (agent, { delta }) => written(agent, 'thinking', delta),
  'tool.call.delta': argued,
  'tool.progress': progressed,
  'agent.status.updated': (agent, { phase }) => (phase ? agentMeta(agent, { phase }) : []),
};

/** Maps a volatile event of the running step and applies its operations. */
export function mapVolatile(agent: AgentTranscript, event: VolatileEvent): StoredOp[] {
  const ops = mapped(agent, event);
  applyOps(agent.state, ops);
  return ops;
}

const mapped = <T extends VolatileType>(agent: AgentTranscript, event: { type: T; fields: VolatileFields<T> }) =>
  volatileRows[event.type](agent, event.fields);

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
