/** Rows of steps, and of the model's output in them. */
import type { EventRecord, InternalRecord } from '#server/journal/records.ts';
import { BlobText, type Stored, type Text } from '#server/journal/texts.ts';
import { slashLine, withoutSkillBlocks } from '#server/journal/typed-prompts.ts';
import type { ContextMessage, Part } from '#schema/engine.ts';
import { iso } from '#schema/scalars.ts';
import { noStream, openStep, openTurn, turnIdOf, type AgentTranscript } from '../agent-transcript.ts';
import type { RecordMappers } from '../transcript-rows.ts';
import type { StoredFrame, StoredOp, StoredStep, StoredTextFrame, StoredToolFrame } from '../reducer/state.ts';
import { attached } from './attachments.ts';

type StepHeader = Omit<StoredStep, 'frames'>;

const frameOp = ({ turnId, stepId }: StepHeader, frame: StoredFrame): StoredOp => ({
  op: 'frame.upsert',
  turnId,
  stepId,
  frame,
});

/** A call that will get no result. */
function failedCall({ inputText: _inputText, progress: _progress, ...frame }: StoredToolFrame): StoredToolFrame {
  return { ...frame, state: 'error' };
}

/** Marks the running calls of an ended step as failed. */
function failedCalls(step: StoredStep): StoredOp[] {
  const ops: StoredOp[] = [];
  for (const frame of step.frames) {
    if (frame.kind === 'tool' && frame.state === 'running') ops.push(frameOp(step, failedCall(frame)));
  }
  return ops;
}

/** The outcome of a step. */
type StepEnd = Pick<StepHeader, 'state' | 'usage' | 'finishReason' | 'timing' | 'endReason' | 'endMessage'>;

/** Ends a step and its running calls. */
export function endedStep(step: StoredStep, end: StepEnd, t: number): StoredOp[] {
  const { kind, stepId, turnId, ordinal, startedAt } = step;
  const { state, usage, finishReason, timing, endReason, endMessage } = end;
  const header: StepHeader = { kind, stepId, turnId, ordinal, state };
  if (startedAt !== undefined) header.startedAt = startedAt;
  header.endedAt = iso(t);
  if (usage !== undefined) header.usage = usage;
  if (finishReason !== undefined) header.finishReason = finishReason;
  if (timing !== undefined) header.timing = timing;
  if (endReason !== undefined) header.endReason = endReason;
  if (endMessage !== undefined) header.endMessage = endMessage;
  return [{ op: 'step.upsert', turnId, step: header }, ...failedCalls(step)];
}

/** The display text of a message that entered a running turn. */
function enteredText(agent: AgentTranscript, { content, origin }: Stored<ContextMessage>): string | object | undefined {
  if (origin?.kind === 'task') {
    const notice = agent.notices.get(origin.taskId);
    agent.notices.delete(origin.taskId);
    return notice;
  }
  const isTyped = origin?.kind !== 'skill_activation' || origin.trigger === 'user-slash';
  const line = isTyped ? slashLine(origin) : undefined;
  if (line !== undefined) return line;
  if (origin && origin.kind !== 'user') return undefined;
  return joined(withoutSkillBlocks(content, origin).flatMap((part) => (part.type === 'text' ? part.text : [])));
}

/** Joins a text of several parts; returns the parts unless all are strings. */
function joined(pieces: readonly Text[]): string | object {
  const [only, ...more] = pieces;
  if (only !== undefined && more.length === 0) return only;
  const strings = pieces.filter((piece) => typeof piece === 'string');
  return strings.length === pieces.length ? strings.join('') : pieces;
}

function entered(agent: AgentTranscript, turnId: string, step: StepHeader): StoredOp[] {
  if (agent.entered.length === 0) return [];
  const entering = agent.entered.filter(({ takenAt }) => takenAt === undefined);
  const lastCut = agent.cutPoints.at(-1)?.at ?? 0;
  const shown = entering.map((one) => ({ ...one, text: one.text ?? enteredText(agent, one.message) }));
  agent.entered = agent.entered.filter(({ takenAt }) => takenAt !== undefined);
  // An undo that cuts after a message removes only the step that included it.
  for (const one of shown) if (one.at < lastCut) agent.entered.push({ ...one, takenAt: agent.records });
  return shown.flatMap(({ message, attachments, text }) => {
    if (text === undefined) return [];
    const { ops, ids } = attached(agent, turnId, attachments);
    agent.userFrames += 1;
    const taskId = message.origin?.kind === 'task' ? { taskId: message.origin.taskId } : {};
    const frameId = `${step.stepId}.f${agent.userFrames}`;
    const media = ids.length > 0 ? { attachmentIds: ids } : {};
    return [...ops, frameOp(step, { kind: 'text', frameId, role: 'user', text, ...media, ...taskId })];
  });
}

function started(agent: AgentTranscript, record: EventRecord<'turn.step.started'>, t: number): StoredOp[] {
  const turn = openTurn(agent);
  if (!turn) return [];
  const { turnId } = turn;
  const last = openStep(agent);
  const step: StepHeader = {
    kind: 'step',
    stepId: `${turnId}.${record.step}`,
    turnId,
    ordinal: record.step,
    state: 'running',
    startedAt: iso(t),
  };
  agent.userFrames = 0;
  agent.stream = noStream();
  const ops = last
    ? endedStep(last, { state: 'failed', endReason: 'error', endMessage: last.retry?.errorMessage }, t)
    : [];
  ops.push({ op: 'step.upsert', turnId, step }, ...entered(agent, turnId, step));
  return ops;
}

interface Written {
  kind: 'text' | 'thinking';
  pieces: Text[];
}

const lengthOf = (text: Text) => (text instanceof BlobText ? text.bytes : text.length);

/** The non-empty texts of a response; consecutive parts of one kind are merged. */
function writtenIn(parts: readonly Stored<Part>[]): Written[] {
  const written: Written[] = [];
  for (const part of parts) {
    if (part.type !== 'text' && part.type !== 'think') continue;
    const [kind, text] = part.type === 'text' ? (['text', part.text] as const) : (['thinking', part.think] as const);
    if (lengthOf(text) === 0) continue;
    const last = written.at(-1);
    if (last?.kind === kind) last.pieces.push(text);
    else written.push({ kind, pieces: [text] });
  }
  return written;
}

const textFrame = (kind: Written['kind'], frameId: string, text: string | object): StoredTextFrame =>
  kind === 'text' ? { kind, frameId, role: 'assistant', text } : { kind, frameId, text };

function responded(agent: AgentTranscript, record: InternalRecord<'step.response'>): StoredOp[] {
  const step = openStep(agent);
  if (!step || step.stepId !== `${turnIdOf(record.turnId)}.${record.step}`) return [];
  const written = writtenIn(record.parts);
  const known = (id: string) => step.frames.find(({ frameId }) => frameId === id);
  const { grown } = agent.stream;
  const ops: StoredOp[] = [];
  written.forEach(({ kind, pieces }, index) => {
    const frameId = `${step.stepId}.f${agent.userFrames + index + 1}`;
    const frame = textFrame(kind, frameId, joined(pieces));
    const before = known(frameId);
    const same = before?.kind === frame.kind && before.text === frame.text && !grown.has(frameId);
    if (!same) ops.push(frameOp(step, frame));
  });
  // Clears frames that were streamed but not recorded.
  for (const frame of step.frames) {
    if (!isAnswer(frame) || Number(/\d+$/.exec(frame.frameId)?.[0]) <= agent.userFrames + written.length) continue;
    if (frame.text !== '') ops.push(frameOp(step, { ...frame, text: '' }));
  }
  for (const { id, name } of record.calls) {
    const frameId = `${step.stepId}.${id}`;
    if (!known(frameId)) {
      ops.push(frameOp(step, { kind: 'tool', frameId, toolCallId: id, name, state: 'running' }));
    }
  }
  grown.clear();
  return ops;
}

const isAnswer = (frame: StoredFrame): frame is StoredTextFrame =>
  frame.kind === 'thinking' || (frame.kind === 'text' && frame.role === 'assistant');

const TIMINGS = [
  'llmFirstTokenLatencyMs',
  'llmStreamDurationMs',
  'llmRequestBuildMs',
  'llmServerFirstTokenMs',
  'llmServerDecodeMs',
  'llmClientConsumeMs',
] as const;

function timingOf(record: EventRecord<'turn.step.completed'>): StoredStep['timing'] {
  let timing: StoredStep['timing'];
  for (const name of TIMINGS) {
    const ms = record[name];
    if (ms !== undefined) (timing ??= {})[name] = ms;
  }
  return timing;
}

function completed(agent: AgentTranscript, record: EventRecord<'turn.step.completed'>, t: number): StoredOp[] {
  const step = openStep(agent);
  if (!step) return [];
  const { usage, finishReason } = record;
  return endedStep(step, { state: 'completed', usage, finishReason, timing: timingOf(record) }, t);
}

function retrying(agent: AgentTranscript, record: EventRecord<'turn.step.retrying'>): StoredOp[] {
  const step = openStep(agent);
  if (!step) return [];
  const { failedAttempt, nextAttempt, maxAttempts, delayMs, errorName, errorMessage, statusCode } = record;
  const { frames, ...header } = step;
  agent.stream = noStream();
  const retry = {
    failedAttempt,
    nextAttempt,
    maxAttempts,
    delayMs,
    errorName,
    errorMessage,
    ...(statusCode === undefined ? {} : { statusCode }),
  };
  return [
    ...frames.flatMap((frame) => (isAnswer(frame) ? frameOp(step, { ...frame, text: '' }) : [])),
    ...failedCalls(step),
    { op: 'step.upsert', turnId: step.turnId, step: { ...header, retry } },
  ];
}

function interrupted(agent: AgentTranscript, record: EventRecord<'turn.step.interrupted'>, t: number): StoredOp[] {
  // A turn at its step limit refers to a step that may have ended.
  const step = openStep(agent);
  if (!step) return [];
  const { reason, message } = record;
  return endedStep(step, { state: 'interrupted', endReason: reason, endMessage: message }, t);
}

/** Queues input for the next step; input that opens a turn is part of the turn. */
function entering(agent: AgentTranscript, { messages, x }: EventRecord<'context.spliced'>): StoredOp[] {
  if (x?.cause === 'input' && x.enters === 'step') {
    messages.forEach((message, index) => {
      agent.entered.push({ message, attachments: index === 0 ? (x.attachments ?? []) : [], at: agent.records });
    });
  }
  return [];
}

function notified(agent: AgentTranscript, { sourceId, title, body }: EventRecord<'task.notified'>): StoredOp[] {
  agent.notices.set(sourceId, `${title}\n${body}`);
  return [];
}

export const stepRows: RecordMappers = {
  'context.spliced': entering,
  'task.notified': notified,
  'turn.step.started': started,
  'step.response': responded,
  'turn.step.completed': completed,
  'turn.step.retrying': retrying,
  'turn.step.interrupted': interrupted,
};
