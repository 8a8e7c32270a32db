/**
 * The session view as a pure fold: a snapshot, then the events after it, each applied so that twice is as good as once.
 */
import { MAIN_AGENT, type EventFrame, type Message, type Snapshot } from '../client/types.ts';
import { withWork } from './session-list.ts';
import { fromSnapshot, messageEntry, settleMessages, withOlder } from './settle.ts';
import { type Entry, type Facts, type QueuedPrompt, type SessionView, type StepEntry } from './session-view.ts';
import { appendProgress, cutOpen, withCall } from './tool-calls.ts';
import { partsAfter, partsFromSnapshot, type ViewPart } from './view-part.ts';

export type Action =
  | { type: 'snapshot'; snapshot: Snapshot }
  | { type: 'event'; frame: EventFrame }
  /** Ascending messages after the tail, read when `done` steps were over. */
  | { type: 'messages'; items: Message[]; complete: boolean; done: number }
  | { type: 'older'; items: Message[]; hasOlder: boolean }
  | { type: 'facts'; facts: Facts }
  /** The queue as read from the server, and as it was here when the read began. */
  | { type: 'queue'; queue: QueuedPrompt[]; before: QueuedPrompt[] };

/** The fold of a session with the parts that features keep in its view. */
export function createReducer(known: readonly ViewPart<unknown>[]) {
  return function reduce(view: SessionView, action: Action): SessionView {
    switch (action.type) {
      case 'snapshot': {
        const parts = partsFromSnapshot(view.parts, known, action.snapshot);
        return { ...fromSnapshot(view, action.snapshot), parts };
      }
      case 'event': {
        const next = applyEvent(view, action.frame);
        const parts = partsAfter(view.parts, known, action.frame);
        return parts === view.parts ? next : { ...next, parts };
      }
      default:
        return applyRead(view, action);
    }
  };
}

/** What was read on the view's wish, or chosen on the page. */
function applyRead(view: SessionView, action: Exclude<Action, { type: 'snapshot' | 'event' }>): SessionView {
  switch (action.type) {
    case 'messages':
      return action.complete ? settleMessages(view, action.items, action.done) : { ...view, wants: 'snapshot' };
    case 'older':
      return withOlder(view, action.items, action.hasOlder);
    case 'facts':
      return { ...view, facts: action.facts };
    case 'queue':
      return { ...view, queue: mergeQueue(view.queue, action.queue, action.before) };
  }
}

/** The conversation shows the main agent; what others write and call is not part of it. */
function applyEvent(view: SessionView, frame: EventFrame): SessionView {
  if (frame.payload.agentId !== MAIN_AGENT) return view;
  switch (frame.type) {
    case 'event.session.created':
      return { ...view, session: frame.payload.session };
    case 'event.session.work_changed':
      return view.session ? { ...view, session: withWork(view.session, frame.payload) } : view;
    case 'session.meta.updated': {
      if (!view.session) return view;
      const { title } = frame.payload.patch;
      return title === undefined ? view : { ...view, session: { ...view.session, title } };
    }
    case 'prompt.submitted': {
      const { promptId, content, status, createdAt } = frame.payload;
      if (status === 'running') return withPrompt(view, frame.session_id, promptId, content, createdAt);
      if (view.queue.some((prompt) => prompt.promptId === promptId)) return view;
      return { ...view, queue: [...view.queue, { promptId, content }] };
    }
    case 'prompt.steered': {
      const { promptIds, messageId, content, steeredAt } = frame.payload;
      return withPrompt(unqueue(view, promptIds), frame.session_id, messageId, content, steeredAt);
    }
    case 'prompt.completed':
    case 'prompt.aborted':
      return unqueue(view, [frame.payload.promptId]);
    case 'turn.started': {
      const { turnId, promptId } = frame.payload;
      if (view.turn?.turnId === turnId) return view;
      const queued = view.queue.find((prompt) => prompt.promptId === promptId);
      const next = queued
        ? withPrompt(
            unqueue(view, [queued.promptId]),
            frame.session_id,
            queued.promptId,
            queued.content,
            frame.timestamp,
          )
        : view;
      return { ...next, turn: { turnId, promptId, textEnd: 0, thinkingEnd: 0 }, retry: undefined };
    }
    case 'turn.step.started':
      return startStep(view, frame.payload.turnId, frame.payload.step);
    case 'turn.step.retrying': {
      const { nextAttempt, maxAttempts, delayMs, errorMessage } = frame.payload;
      const retry = { attempt: nextAttempt, maxAttempts, delayMs, reason: errorMessage };
      // What the failed attempt wrote is void.
      return { ...endStep(view, (step) => ({ ...step, text: '', thinking: '', calls: [] })), retry };
    }
    case 'turn.step.completed':
    case 'turn.step.interrupted':
      return { ...endStep(view), retry: undefined };
    case 'turn.ended':
      return endTurn(view, frame);
    case 'assistant.delta':
    case 'thinking.delta':
      return applyDelta(view, frame);
    case 'tool.call.delta': {
      const { turnId, toolCallId, name, argumentsPart } = frame.payload;
      if (view.turn?.turnId !== turnId || (view.tools[toolCallId]?.state ?? 'preparing') !== 'preparing') return view;
      const grow = argumentsPart?.length ?? 0;
      const tools = withCall(view.tools, toolCallId, (call) => ({ ...call, written: call.written + grow }), name);
      return { ...withStepCall(view, turnId, toolCallId), tools };
    }
    case 'tool.call.started': {
      const { turnId, toolCallId, name, args, description, display } = frame.payload;
      if (view.tools[toolCallId]?.output !== undefined) return view;
      const tools = withCall(view.tools, toolCallId, (call) => ({
        ...call,
        name,
        input: args,
        label: description,
        display,
        state: 'running',
      }));
      return { ...withStepCall(view, turnId, toolCallId), tools };
    }
    case 'tool.progress': {
      const { toolCallId, update } = frame.payload;
      if (view.tools[toolCallId]?.state !== 'running') return view;
      const tools = withCall(view.tools, toolCallId, (call) => ({
        ...call,
        progress: appendProgress(call.progress, update.text ?? '', update.replace),
        percent: update.percent ?? call.percent,
      }));
      return { ...view, tools };
    }
    case 'tool.result': {
      const { toolCallId, output, isError } = frame.payload;
      const state = isError ? 'failed' : 'done';
      return { ...view, tools: withCall(view.tools, toolCallId, (call) => ({ ...call, state, output, progress: '' })) };
    }
    case 'agent.status.updated': {
      const { phase, model, thinkingEffort, permission, planMode, contextTokens, maxContextTokens } = frame.payload;
      if (phase) return { ...view, phase };
      const { facts } = view;
      return {
        ...view,
        facts: {
          model: model ?? facts.model,
          thinking: thinkingEffort ?? facts.thinking,
          permission: permission ?? facts.permission,
          planMode: planMode ?? facts.planMode,
          contextTokens: contextTokens ?? facts.contextTokens,
          maxContextTokens: maxContextTokens ?? facts.maxContextTokens,
        },
      };
    }
    case 'context.undone':
    case 'compaction.completed':
      // The message list changed other than by growing.
      return { ...view, wants: 'snapshot' };
    case 'error':
      // A failed turn has said the same already.
      if (view.entries.some((entry) => entry.kind === 'notice' && entry.text === frame.payload.message)) return view;
      return withNotice(view, frame, 'error', frame.payload.message);
    case 'hook.result':
      return frame.payload.blocked
        ? withNotice(view, frame, 'warning', `A hook refused this prompt: ${frame.payload.content}`)
        : view;
    case 'warning':
      return withNotice(view, frame, 'warning', frame.payload.message);
    default:
      return view;
  }
}

function withPrompt(
  view: SessionView,
  sessionId: string,
  id: string,
  content: Message['content'],
  createdAt: string,
): SessionView {
  if (view.entries.some((entry) => entry.key === id)) return view;
  const message: Message = { id, session_id: sessionId, role: 'user', content, created_at: createdAt };
  return { ...view, entries: [...view.entries, messageEntry(message, true)] };
}

function unqueue(view: SessionView, ids: string[]): SessionView {
  const queue = view.queue.filter((prompt) => !ids.includes(prompt.promptId));
  return queue.length === view.queue.length ? view : { ...view, queue };
}

/** What was read, plus what events added and minus what they removed while it was being read. */
function mergeQueue(now: QueuedPrompt[], read: QueuedPrompt[], before: QueuedPrompt[]): QueuedPrompt[] {
  const ids = (queue: QueuedPrompt[]) => new Set(queue.map((prompt) => prompt.promptId));
  const [nowIds, readIds, beforeIds] = [ids(now), ids(read), ids(before)];
  const kept = read.filter(({ promptId }) => nowIds.has(promptId) || !beforeIds.has(promptId));
  return [...kept, ...now.filter(({ promptId }) => !beforeIds.has(promptId) && !readIds.has(promptId))];
}

function startStep(view: SessionView, turnId: number, step: number | string): SessionView {
  const key = `step_${turnId}_${step}`;
  if (view.entries.some((entry) => entry.key === key)) return view;
  const entry: StepEntry = { kind: 'step', key, turnId, text: '', thinking: '', calls: [], done: false };
  return { ...view, entries: [...view.entries, entry], retry: undefined };
}

/** Changes the step that is open, if there is one. */
function changeStep(view: SessionView, change: (step: StepEntry) => StepEntry): SessionView {
  const at = view.entries.findLastIndex((entry) => entry.kind === 'step' && !entry.done);
  const step = view.entries[at];
  if (step?.kind !== 'step') return view;
  const changed = change(step);
  return changed === step ? view : { ...view, entries: view.entries.with(at, changed) };
}

function endStep(view: SessionView, change: (step: StepEntry) => StepEntry = (step) => step): SessionView {
  const next = changeStep(view, (step) => ({ ...change(step), done: true }));
  return next === view ? view : { ...next, wants: view.wants === 'snapshot' ? 'snapshot' : 'messages' };
}

/** A snapshot from before the first word of a step shows none: what comes next opens it. */
function inStep(view: SessionView, turnId: number): SessionView {
  if (view.turn?.turnId !== turnId || view.entries.some((entry) => entry.kind === 'step' && !entry.done)) return view;
  return startStep(view, turnId, `from_${view.turn.textEnd}_${view.turn.thinkingEnd}`);
}

function withStepCall(view: SessionView, turnId: number, id: string): SessionView {
  return changeStep(inStep(view, turnId), (step) =>
    step.calls.includes(id) ? step : { ...step, calls: [...step.calls, id] },
  );
}

function applyDelta(
  view: SessionView,
  frame: Extract<EventFrame, { type: 'assistant.delta' | 'thinking.delta' }>,
): SessionView {
  const { turn } = view;
  const { offset } = frame;
  if (offset === undefined || turn?.turnId !== frame.payload.turnId) return view;
  const [member, end] =
    frame.type === 'assistant.delta' ? (['text', 'textEnd'] as const) : (['thinking', 'thinkingEnd'] as const);
  if (offset > turn[end]) return { ...view, wants: 'snapshot' };
  const fresh = frame.payload.delta.slice(turn[end] - offset);
  if (!fresh) return view;
  const next = changeStep(inStep(view, turn.turnId), (step) => ({ ...step, [member]: step[member] + fresh }));
  return { ...next, turn: { ...turn, [end]: turn[end] + fresh.length } };
}

function endTurn(view: SessionView, frame: Extract<EventFrame, { type: 'turn.ended' }>): SessionView {
  const { reason, error, interruptReason } = frame.payload;
  const ended = endStep(view);
  const calls = ended.entries.flatMap((entry) => (entry.kind === 'step' ? entry.calls : []));
  const next = { ...ended, turn: undefined, retry: undefined, tools: cutOpen(ended.tools, calls) };
  if (reason === 'cancelled') {
    const text =
      interruptReason === 'user_cancelled' ? 'Stopped.' : 'Interrupted: the server stopped during this turn.';
    return withNotice(next, frame, 'info', text);
  }
  if (reason === 'blocked') return withNotice(next, frame, 'warning', 'A hook blocked this prompt.');
  return reason === 'failed' ? withNotice(next, frame, 'error', error?.message ?? 'The turn failed.') : next;
}

function withNotice(
  view: SessionView,
  frame: EventFrame,
  tone: 'error' | 'warning' | 'info',
  text: string,
): SessionView {
  const key = `notice_${frame.epoch ?? ''}_${frame.seq}`;
  if (view.entries.some((entry) => entry.key === key)) return view;
  const notice: Entry = { kind: 'notice', key, tone, text };
  return { ...view, entries: [...view.entries, notice] };
}
