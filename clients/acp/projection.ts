/**
 * The updates that an editor needs to reach the present state of a transcript. They are computed from the state and
 * from what was sent before, so an editor that reads slowly gets fewer and larger updates, and no queue grows.
 */
import { createHash } from 'node:crypto';
import type { SessionUpdate } from '@agentclientprotocol/sdk';
import { MAIN_AGENT, type Frame, type Item, type TranscriptState } from '@service-code/client';
import * as z from 'zod';
import { callView, type CallView, type ToolFrame } from './tool-calls.ts';
import { completeLength, lastLine, wellFormed } from './text.ts';

type Turn = Extract<Item, { kind: 'turn' }>;
type CallUpdate = Extract<SessionUpdate, { sessionUpdate: 'tool_call_update' }>;

export interface ProjectionOptions {
  /** The session's directory. */
  cwd: string;
  /** Whether the editor has sent the prompt of the turn, so that it displays it already. */
  isOwn(turn: Turn): boolean;
  /** Whether the editor has sent the text, which another client has put into a running turn. */
  isOwnText(text: string, turn: Turn): boolean;
  /** Whether the editor displays notices. */
  hasNotices: boolean;
}

export interface Projection {
  /** The next updates of the main agent; they are treated as sent. */
  next(agents: ReadonlyMap<string, TranscriptState>): SessionUpdate[];
  /** Treats the present state as sent. */
  skip(agents: ReadonlyMap<string, TranscriptState>): void;
}

interface SentCall {
  frame: ToolFrame;
  /** Hashes of the sent members. */
  hashes: Partial<Record<keyof CallView, string>>;
}

const noticeSchema = z.object({ level: z.enum(['error', 'warning']), message: z.string() });

export function createProjection(options: ProjectionOptions): Projection {
  /** By frame, the sent length of its text. */
  const texts = new Map<string, number>();
  const calls = new Map<string, SentCall>();
  /** Turns whose prompt was sent, and turns whose error was. */
  const opened = new Set<string>();
  const notices = new Set<string>();
  /** Turns with a smaller ordinal have nothing to send any more. */
  let firstOpen = 0;
  let plan = '';
  let usage = '';

  function* turnUpdates(turn: Turn, agents: ReadonlyMap<string, TranscriptState>): Generator<SessionUpdate> {
    const isOwn = options.isOwn(turn);
    if (!opened.has(turn.turnId)) {
      opened.add(turn.turnId);
      if (!isOwn) yield* promptUpdates(turn, agents);
    }
    for (const { frames } of turn.steps) for (const frame of frames) yield* frameUpdates(frame, turn, agents);
    if (turn.state === 'running') return;
    // The editor gets the error of its own prompt as the reply.
    if (turn.error !== undefined && !isOwn) yield chunk('agent_message_chunk', `${turn.turnId}.error`, turn.error);
    firstOpen = turn.ordinal + 1;
    opened.delete(turn.turnId);
    for (const { frames } of turn.steps) {
      for (const { frameId } of frames) {
        texts.delete(frameId);
        calls.delete(frameId);
      }
    }
  }

  function* promptUpdates(turn: Turn, agents: ReadonlyMap<string, TranscriptState>): Generator<SessionUpdate> {
    const id = `${turn.turnId}.prompt`;
    if (turn.prompt !== undefined) yield chunk('user_message_chunk', id, turn.prompt);
    // Their bytes are not part of the transcript.
    for (const attachmentId of turn.attachmentIds ?? []) {
      const attachment = agents.get(MAIN_AGENT)?.attachments.get(attachmentId);
      if (attachment) yield chunk('user_message_chunk', id, `[${attachment.name ?? attachment.mediaType}]`);
    }
  }

  function* frameUpdates(frame: Frame, turn: Turn, agents: ReadonlyMap<string, TranscriptState>) {
    if (frame.kind === 'tool') return yield* callUpdates(frame, agents);
    if (frame.kind === 'notice') return;
    if (frame.kind === 'text' && frame.role === 'user') {
      // The notification of a task is for the model.
      if (texts.has(frame.frameId) || frame.taskId !== undefined) return;
      texts.set(frame.frameId, frame.text.length);
      if (!options.isOwnText(frame.text, turn)) yield chunk('user_message_chunk', frame.frameId, frame.text);
      return;
    }
    const sent = texts.get(frame.frameId) ?? 0;
    const length = turn.state === 'running' ? completeLength(frame.text) : frame.text.length;
    if (length === sent) return;
    texts.set(frame.frameId, length);
    if (length < sent) return;
    const type = frame.kind === 'thinking' ? 'agent_thought_chunk' : 'agent_message_chunk';
    yield chunk(type, frame.frameId, frame.text.slice(sent, length));
  }

  function* callUpdates(frame: ToolFrame, agents: ReadonlyMap<string, TranscriptState>): Generator<SessionUpdate> {
    const sent = calls.get(frame.frameId);
    if (sent?.frame === frame && !frame.agentRefs) return;
    const view = callView(frame, { cwd: options.cwd, lines: agentLines(frame, agents) });
    const { name, toolCallId } = frame;
    if (!sent) {
      calls.set(frame.frameId, { frame, hashes: hashesOf(view) });
      yield { sessionUpdate: 'tool_call', toolCallId, ...(name !== '' && { name }), ...view };
      return;
    }
    const hashes = hashesOf(view);
    const update = changedMembers(view, hashes, sent.hashes);
    calls.set(frame.frameId, { frame, hashes });
    if (update) yield { sessionUpdate: 'tool_call_update', toolCallId, ...update };
  }

  function* sideUpdates(state: TranscriptState): Generator<SessionUpdate> {
    const todos = state.todos.get('todo')?.items ?? [];
    const entries = todos.map(({ title, status }) => ({
      content: wellFormed(title),
      priority: 'medium' as const,
      status: status === 'done' ? ('completed' as const) : status,
    }));
    const newPlan = entries.length === 0 && plan === '' ? '' : JSON.stringify(entries);
    if (newPlan !== plan) {
      plan = newPlan;
      yield { sessionUpdate: 'plan', entries };
    }
    const { contextTokens: used, maxContextTokens: size } = state.meta.agent ?? {};
    if (used === undefined || size === undefined || usage === `${used}/${size}`) return;
    usage = `${used}/${size}`;
    yield { sessionUpdate: 'usage_update', used, size };
  }

  function* noticeUpdates(item: Extract<Item, { kind: 'marker' }>): Generator<SessionUpdate> {
    if (item.marker !== 'notice' || notices.has(item.markerId)) return;
    notices.add(item.markerId);
    const { data } = noticeSchema.safeParse(item.payload);
    if (data && options.hasNotices) {
      yield { sessionUpdate: 'notice', severity: data.level, title: wellFormed(data.message) };
    }
  }

  function* updates(agents: ReadonlyMap<string, TranscriptState>): Generator<SessionUpdate> {
    const state = agents.get(MAIN_AGENT);
    if (!state) return;
    for (const item of openItems(state.items, firstOpen)) {
      if (item.kind === 'turn') yield* turnUpdates(item, agents);
      else if (item.kind === 'marker') yield* noticeUpdates(item);
    }
    yield* sideUpdates(state);
  }

  return {
    next: (agents) => [...updates(agents)],
    skip: (agents) => void [...updates(agents)],
  };
}

/** The items from the first turn with this ordinal on, or from the last turn before it, whose markers may be new. */
function openItems(items: readonly Item[], ordinal: number): Item[] {
  const before = items.findLastIndex((item) => item.kind === 'turn' && item.ordinal < ordinal);
  return items.slice(before + 1);
}

function chunk(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk' | 'agent_thought_chunk',
  messageId: string,
  text: string,
): SessionUpdate {
  return { sessionUpdate, messageId, content: { type: 'text', text: wellFormed(text) } };
}

/** The last line of each agent that a call has started; undefined for a call without agents. */
function agentLines({ agentRefs, output }: ToolFrame, agents: ReadonlyMap<string, TranscriptState>) {
  if (!agentRefs) return undefined;
  const lines = agentRefs.map(({ agentId }) => lastLine(lastText(agents.get(agentId))));
  const known = lines.filter((line) => line !== '');
  if (known.length > 0) return known.map(wellFormed);
  const line = typeof output === 'string' ? lastLine(output) : '';
  return line === '' ? [] : [wellFormed(line)];
}

function lastText(state: TranscriptState | undefined): string {
  const turn = state?.items.findLast((item) => item.kind === 'turn');
  if (turn?.kind !== 'turn') return '';
  const frames = turn.steps.flatMap((step) => step.frames);
  const last = frames.findLast(
    (frame) => frame.kind === 'text' && frame.role === 'assistant' && frame.text.trim() !== '',
  );
  return last?.kind === 'text' ? last.text : '';
}

function hashesOf(view: CallView): SentCall['hashes'] {
  const entries = Object.entries(view).map(([name, value]) => [name, hashOf(JSON.stringify(value) ?? '')]);
  return Object.fromEntries(entries);
}

/** Short values are compared as they are. */
const hashOf = (value: string): string =>
  value.length < 64 ? value : createHash('sha256').update(value).digest('base64');

/** The members that differ; undefined if none does. */
function changedMembers(
  view: CallView,
  hashes: SentCall['hashes'],
  sent: SentCall['hashes'],
): Omit<CallUpdate, 'sessionUpdate' | 'toolCallId'> | undefined {
  const { title, kind, status, content, locations, rawInput } = view;
  const differs = (name: keyof CallView) => hashes[name] !== sent[name];
  const update = {
    ...(differs('title') && { title }),
    ...(differs('kind') && { kind }),
    ...(differs('status') && { status }),
    ...(differs('content') && { content }),
    ...(differs('locations') && { locations }),
    ...(differs('rawInput') && { rawInput }),
  };
  return Object.keys(update).length === 0 ? undefined : update;
}
