/**
 * Renders the frames of one connection as text for golden files: one line per frame; ids, times and sizes masked;
 * deltas joined. The leading number is the frame's `seq`, `*` marks the global stream. Of `agent.status.updated` only
 * phases are rendered; other frames of it, whose number varies, only with `facts`. Of events that occur in most
 * scenarios only some members are rendered (`… `): a change of their payload changes the files of scenarios about them.
 */
import { inspect } from 'node:util';
import * as z from 'zod';
import { isGlobalEvent } from '#server/events/frame.ts';
import type { ReceivedFrame, WsClient } from './ws-client.ts';

export interface EventLogOptions {
  /** Replacements for texts that differ between runs, such as the project's path. */
  masks?: Record<string, string>;
  /** Renders all frames of `agent.status.updated`, not only its phases. */
  facts?: boolean;
  /** Types whose payloads the scenario is about: they are rendered whole. */
  about?: readonly string[] | 'everything';
}

/** Events of most scenarios, with the members that are rendered of them in those that are not about them. */
const routine = new Map<string, readonly string[]>([
  ['agent.created', []],
  ['session.meta.updated', ['title']],
  ['event.session.work_changed', ['busy', 'pending_interaction', 'last_turn_reason']],
  ['prompt.submitted', ['promptId', 'status']],
  ['prompt.started', ['promptId']],
  ['prompt.completed', ['promptId', 'reason']],
  ['turn.started', ['turnId', 'origin']],
  ['turn.ended', ['turnId', 'reason', 'error']],
  ['turn.step.started', ['turnId', 'step', 'stepId']],
  ['turn.step.completed', ['turnId', 'step', 'stepId', 'finishReason']],
  ['context.spliced', ['start', 'deleteCount', 'messages']],
  ['assistant.delta', ['delta']],
  ['tool.call.delta', ['toolCallId', 'argumentsPart']],
  ['tool.call.started', ['toolCallId', 'name']],
  ['tool.result', ['toolCallId', 'output', 'isError']],
  ['agent.status.updated', ['kind', 'turnId', 'step', 'stream', 'name']],
]);

export interface Recorder {
  /** Writes a line for the client's next action, after all earlier frames, then runs it. */
  act<T>(what: string, action: () => Promise<T>): Promise<T>;
  /** Renders all frames since the recorder was created, except the answers to its own pings. */
  text(): Promise<string>;
}

/** Longest ids first, because a shorter id may be part of a longer one. */
const idKinds = [
  ['session', /session_[0-9a-f-]{36}/g],
  ['approval', /approval_[0-9a-f-]{36}/g],
  ['question', /question_[0-9a-f-]{36}/g],
  ['prompt', /msg_[0-9A-Z]{26}/g],
  ['epoch', /ep_[0-9A-Z]{26}/g],
  ['pid', /(?<=pid: )\d+/g],
  ['connection', /conn_[0-9A-Z]{26}/g],
  ['workspace', /wd_[\w.-]+_[0-9a-f]{12}/g],
  ['plan', /(?<=plans\/|')[a-z]+-[a-z]+-\d{4}(?=\.md|')/g],
  ['task', /\b(?:bash|agent|question)-[0-9a-z]{8}\b/g],
  ['step', /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g],
  ['job', /\b01[0-9A-Z]{24}\b/g],
  ['zone', /(?<=T\d\d:\d\d:\d\d)[+-]\d\d:\d\d/g],
  ['time', /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g],
  ['date', /\d{4}-\d\d-\d\d/g],
] as const;

/** Payload members that contain only times, or repeat the line. */
const left = new Set(['type', 'sessionId', 'time', 'since', 'at']);
const sizes = new Set([
  'tokens',
  'tokensBefore',
  'tokensAfter',
  'contextTokens',
  'contextUsage',
  'durationMs',
  'delayMs',
]);

/** Starts recording what the client receives; meanwhile no other code may use the client's `answers`. */
export function recordEvents(client: WsClient, options: EventLogOptions = {}): Recorder {
  const start = client.frames.length;
  const notes: { before: number; text: string }[] = [];
  let pings = 0;

  /** Waits for all published frames: events and answers share one queue. */
  async function settled(): Promise<void> {
    const nonce = `recorder-${start}-${(pings += 1)}`;
    client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce } }));
    await client.waitFor(({ type, payload }) => type === 'pong' && payload['nonce'] === nonce);
  }

  return {
    async act(what, action) {
      await settled();
      notes.push({ before: client.frames.length, text: `-- ${what}` });
      return action();
    },
    async text() {
      await settled();
      const mask = createMask(options.masks ?? {});
      const { about = [] } = options;
      const membersOf = (type: string) =>
        about === 'everything' || about.includes(type) ? undefined : routine.get(type);
      const lines: string[] = [];
      let open: ReceivedFrame | undefined;
      const close = () => {
        if (open) lines.push(line(open, mask, membersOf(open.type)));
        open = undefined;
      };
      for (const [place, frame] of [...client.frames.entries(), [client.frames.length, undefined] as const]) {
        for (const note of notes) {
          if (note.before !== place || place < start) continue;
          close();
          lines.push(mask(note.text));
        }
        if (!frame || place < start || frame.type === 'pong' || (!options.facts && isFacts(frame))) continue;
        const joined = open && join(open, frame);
        if (!joined) close();
        open = joined ?? frame;
      }
      close();
      return `${lines.join('\n')}\n`;
    },
  };
}

const isFacts = ({ type, payload }: ReceivedFrame) => type === 'agent.status.updated' && !('phase' in payload);

/** Joins two adjacent chunks of the same text into one frame. */
function join(first: ReceivedFrame, second: ReceivedFrame): ReceivedFrame | undefined {
  const [a, b] = [first.payload, second.payload];
  if (first.type !== second.type || a['agentId'] !== b['agentId'] || a['toolCallId'] !== b['toolCallId'])
    return undefined;
  if (first.type === 'assistant.delta' || first.type === 'thinking.delta') {
    return { ...first, payload: { ...a, delta: `${String(a['delta'])}${String(b['delta'])}` } };
  }
  if (first.type !== 'tool.call.delta') return undefined;
  return { ...first, payload: { ...a, argumentsPart: `${String(a['argumentsPart'])}${String(b['argumentsPart'])}` } };
}

function createMask(masks: Record<string, string>): (text: string) => string {
  const names = new Map<string, string>();
  const counts = new Map<string, number>();
  const nameOf = (kind: string, id: string) => {
    const known = names.get(id);
    if (known) return known;
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    const name = kind === 'time' || kind === 'date' ? `<${kind}>` : `<${kind} ${count}>`;
    names.set(id, name);
    return name;
  };
  return (text) => {
    let masked = text;
    for (const [found, shown] of Object.entries(masks)) masked = masked.replaceAll(found, shown);
    for (const [kind, pattern] of idKinds) masked = masked.replaceAll(pattern, (id) => nameOf(kind, id));
    return masked;
  };
}

/** `members`: those that are rendered, if not all are. */
function line(frame: ReceivedFrame, mask: (text: string) => string, members?: readonly string[]): string {
  const { type, seq, session_id: sessionId, volatile, offset, payload, id, code } = frame;
  if (sessionId === undefined) {
    const head = type === 'ack' ? `ack ${String(id)} ${code}` : type;
    return mask(`      ${head} ${shown(payload)}`);
  }
  const number = `${volatile ? '~' : ''}${seq}`.padStart(4);
  const scope = isGlobalEvent(type) ? 'G' : ' ';
  const place = offset === undefined ? '' : ` offset ${offset}`;
  const { agentId, phase, ...rest } = payload;
  const agent = agentId === 'main' || agentId === undefined ? '' : ` (${String(agentId)})`;
  if (type === 'agent.status.updated') {
    const what = typeof phase === 'object' && phase ? `phase ${shown(phase, members)}` : `facts ${shown(rest)}`;
    return mask(`${number} ${scope} st: ${what}${agent}`);
  }
  return mask(
    `${sessionId === '__global__' ? '   *' : number} ${scope} ${type}${place} ${shown(rest, members)}${agent}`,
  );
}

const varying = new Set(['startedAt', 'endedAt', 'pid']);

/** Masks times and sizes of a task. */
const maskedInfo = (info: object) =>
  Object.fromEntries(
    Object.entries(info).map(([key, member]) => [key, varying.has(key) && member !== null ? '<n>' : member]),
  );

/** Masks sizes of a compaction. */
const maskedSizes = (result: object) =>
  Object.fromEntries(Object.entries(result).map(([key, member]) => [key, sizes.has(key) ? '<n>' : member]));

/** Roles and origins of messages, without their content. */
const originsOf = (messages: unknown) =>
  messagesSchema
    .parse(messages)
    .map(({ role, origin }) => [role, origin?.kind, origin?.variant].filter((part) => part !== undefined).join(' '));

const messagesSchema = z.array(
  z.object({ role: z.string(), origin: z.object({ kind: z.string(), variant: z.string().optional() }).optional() }),
);

/** Renders a payload with masked times and sizes; timings of a step are omitted. */
function shown(payload: object, wanted?: readonly string[]): string {
  const members = Object.entries(payload).flatMap(([key, member]) => {
    if (left.has(key) || key.startsWith('llm') || wanted?.includes(key) === false) return [];
    if (key === 'messages' && wanted) return [[key, originsOf(member)]];
    if (key === 'info' && typeof member === 'object' && member) return [[key, maskedInfo(member)]];
    if (key === 'result' && typeof member === 'object' && member) return [[key, maskedSizes(member)]];
    return [[key, sizes.has(key) ? '<n>' : member]];
  });
  const options = { depth: null, breakLength: Infinity, compact: true, maxArrayLength: null, maxStringLength: null };
  const text = inspect(Object.fromEntries(members), options);
  return wanted ? text.replace(/(^\{)?\}$/, (end) => (end === '{}' ? '{ … }' : '… }')) : text;
}
