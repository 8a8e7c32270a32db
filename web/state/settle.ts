/** Where messages read from the server take the place of what events and snapshots showed. */
import type { Message, Snapshot } from '../client/types.ts';
import { isShown, type Entry, type MessageEntry, type SessionView, type StepEntry } from './session-view.ts';
import { fromMessages, fromTurn } from './tool-calls.ts';

export function messageEntry(message: Message, local = false): MessageEntry {
  return { kind: 'message', key: message.id, message, local };
}

/** The view a snapshot shows. Facts, queue and phase come from elsewhere and stay. */
export function fromSnapshot(view: SessionView, snapshot: Snapshot): SessionView {
  const { items, has_more } = snapshot.messages;
  const turn = snapshot.in_flight_turn;
  // The newest assistant message of a running turn is its current step: shown from the turn's own text.
  const start = turn ? turnStart(items, turn.current_prompt_id) : items.length;
  const current = items.findLastIndex((message, at) => at > start && message.role === 'assistant');
  const settled = turn && current >= 0 ? items.slice(0, current) : items;
  const open = turn && current >= 0 ? items.slice(current) : [];
  const entries: Entry[] = settled.map((message) => messageEntry(message));
  let tools = fromMessages(view.tools, items);
  if (turn) {
    tools = fromTurn(tools, turn);
    const [message] = open;
    const running = turn.running_tools.map((tool) => tool.tool_call_id);
    if (message || turn.assistant_text || turn.thinking_text || running.length) {
      entries.push(openStep(turn.turn_id, message, turn.assistant_text, turn.thinking_text, running));
      // A message between the steps (a steered prompt) is shown after the step.
      entries.push(...open.filter((other) => other.role === 'user').map((other) => messageEntry(other, true)));
    }
  }
  return {
    ...view,
    session: snapshot.session,
    entries,
    tail: settled.at(-1)?.id,
    hasOlder: has_more,
    turn: turn
      ? {
          turnId: turn.turn_id,
          promptId: turn.current_prompt_id,
          textEnd: turn.assistant_offset + turn.assistant_text.length,
          thinkingEnd: turn.thinking_offset + turn.thinking_text.length,
        }
      : undefined,
    phase: turn ? view.phase : undefined,
    retry: undefined,
    tools,
    wants: 'nothing',
  };
}

function turnStart(items: readonly Message[], promptId: string | undefined): number {
  const prompt = items.findLastIndex((message) => message.id === promptId);
  return prompt >= 0 ? prompt : items.findLastIndex((message) => message.role === 'user');
}

function openStep(turnId: number, message: Message | undefined, text: string, thinking: string, running: string[]) {
  const parts = message?.content ?? [];
  const finished = (type: 'text' | 'thinking') =>
    parts.map((part) => (part.type !== type ? '' : part.type === 'text' ? part.text : part.thinking)).join('');
  const calls = parts.flatMap((part) => (part.type === 'tool_use' ? [part.tool_call_id] : []));
  const step: StepEntry = {
    kind: 'step',
    key: `step_${message?.id ?? turnId}`,
    turnId,
    text: text || finished('text'),
    thinking: thinking || finished('thinking'),
    calls: [...new Set([...calls, ...running])],
    done: false,
  };
  return step;
}

/**
 * Replaces the first `done` steps by their messages. A step has exactly one assistant message, so the
 * n-th assistant message after the tail is the n-th step; what follows it up to the next one belongs to it.
 */
export function settleMessages(view: SessionView, read: Message[], done: number): SessionView {
  const known = read.findLastIndex((message) => message.id === view.tail);
  const messages = read.slice(known + 1);
  const starts = messages.flatMap((message, at) => (message.role === 'assistant' ? [at] : []));
  if (starts.length < done) return { ...view, wants: 'snapshot' };
  const end = starts[done] ?? messages.length;
  const taken = messages.slice(0, end);
  const byId = new Map(taken.map((message) => [message.id, message]));

  const first = view.entries.findIndex((entry) => entry.kind === 'step' || (entry.kind === 'message' && entry.local));
  const from = first < 0 ? view.entries.length : first;
  const entries: Entry[] = view.entries.slice(0, from);
  const localIds = new Set(
    view.entries.slice(from).flatMap((entry) => (entry.kind === 'message' && byId.has(entry.key) ? [entry.key] : [])),
  );
  const add = (block: Message[]) =>
    entries.push(...block.filter((message) => !localIds.has(message.id)).map((message) => messageEntry(message)));

  add(messages.slice(0, starts[0] ?? end));
  let step = 0;
  for (const entry of view.entries.slice(from)) {
    if (entry.kind === 'step' && step < done) {
      add(messages.slice(starts[step], starts[step + 1] ?? messages.length));
      step += 1;
    } else if (entry.kind === 'message' && localIds.has(entry.key)) {
      entries.push(messageEntry(byId.get(entry.key) ?? entry.message));
    } else {
      entries.push(entry);
    }
  }
  const left = entries.some((entry) => entry.kind === 'step' && entry.done);
  return {
    ...view,
    entries,
    tail: taken.at(-1)?.id ?? view.tail,
    tools: fromMessages(view.tools, taken),
    wants: view.wants === 'snapshot' ? 'snapshot' : left ? 'messages' : 'nothing',
  };
}

/** Puts an older page (ascending) before everything shown. */
export function withOlder(view: SessionView, older: Message[], hasOlder: boolean): SessionView {
  const known = new Set(view.entries.map((entry) => entry.key));
  const entries = older.filter((message) => !known.has(message.id)).map((message) => messageEntry(message));
  return { ...view, entries: [...entries, ...view.entries], hasOlder, tools: fromMessages(view.tools, older) };
}

/** The entries that are drawn. */
export const shownEntries = (view: SessionView): Entry[] =>
  view.entries.filter((entry) => entry.kind !== 'message' || isShown(entry.message));
