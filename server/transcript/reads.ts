/** Reads of a session's transcripts, whether the session is loaded or only folded. */
import type { Whole } from '#server/journal/texts.ts';
import type { Item, TranscriptPage, UserMessages } from '#schema/rest/transcript.ts';
import type { TranscriptReset } from '#schema/frames/transcript-updates.ts';
import type { TranscriptOps } from '#schema/rest/transcript-ops.ts';
import type { TranscriptFold } from './fold.ts';
import type { OpenTranscripts } from './live.ts';
import { selectPage, type PageQuery, type Segment } from './page.ts';
import { emptyTranscript, type StoredItem, type StoredState, type StoredTurn } from './reducer/state.ts';
import { shownAttachment, shownItem, shownOp, shownPrompt, shownText } from './shown.ts';

/** The transcripts of a session. Reads without an await in between are consistent with each other. */
export interface TranscriptSource {
  readonly fold: TranscriptFold;
  /** Set for a loaded session. */
  readonly live?: OpenTranscripts;
  /** Returns a value with its long texts read. */
  load<T>(value: T): Promise<Whole<T>>;
}

/** Bound of the JSON of a page's turns; a page has fewer turns above it, but at least one. */
const PAGE_BYTES = 4 * 1024 * 1024;
/** Most turns of a follower's baseline, and the bound of their JSON; a longer newest turn is read as a page. */
const RESET_TURNS = 20;
const RESET_BYTES = 512 * 1024;

/** The state of an agent; an empty one for an unknown agent. */
export const stateOf = ({ fold }: TranscriptSource, agentId: string): StoredState =>
  fold.agents.get(agentId)?.state ?? emptyTranscript();

/** A page of an agent's transcript, newest turns first unless a cursor specifies otherwise. */
export async function readPage(source: TranscriptSource, agentId: string, query: PageQuery): Promise<TranscriptPage> {
  const { seq, part, meta, pending, agents } = take(source, agentId, query);
  const { items, hasMore, ...side } = await loadPart(part, source.load, {
    forwards: query.after !== undefined,
    bytes: PAGE_BYTES,
    least: 1,
  });
  return {
    agent_id: agentId,
    items,
    has_more: hasMore,
    ...side,
    meta,
    agents,
    pending_interactions: pending,
    ...(seq === undefined ? {} : { seq }),
  };
}

/** A follower's baseline: the agent's state up to a batch. */
export interface TakenReset {
  /** Number of that batch. */
  readonly seq: number;
  /** Reads the long texts. */
  load(): Promise<TranscriptReset>;
}

/** Copies the present state, without steps unless requested, so that later changes do not affect it. */
export function takeReset(source: TranscriptSource, agentId: string, withSteps: boolean): TakenReset {
  const { seq = 0, part, meta } = take(source, agentId, { size: RESET_TURNS });
  const taken = withSteps ? part : { ...part, segments: part.segments.map((segment) => segment.map(withoutSteps)) };
  return {
    seq,
    async load() {
      const { items, hasMore, ...side } = await loadPart(taken, source.load, {
        forwards: false,
        bytes: RESET_BYTES,
        least: 0,
      });
      const snapshot = { items, ...side, meta, hasMoreOlder: hasMore };
      return { type: 'transcript.reset', agent_id: agentId, snapshot, has_more_older: hasMore, seq };
    },
  };
}

const withoutSteps = (item: StoredItem): StoredItem => (item.kind === 'turn' ? { ...item, steps: [] } : item);

/** Reads the state synchronously, since it may change later. */
function take(source: TranscriptSource, agentId: string, query: PageQuery) {
  const { fold, live } = source;
  // The number first: reading it flushes joined operations into batches; the state contains them already.
  const seq = live?.seq(agentId);
  const state = stateOf(source, agentId);
  const used = usedAttachments(state);
  const side = {
    tasks: [...state.tasks.values()],
    interactions: [...state.interactions.values()],
    attachments: [...state.attachments.values()].filter(({ attachmentId }) => used.has(attachmentId)),
    todos: [...state.todos.values()],
    prompts: live ? [...state.prompts.values()] : [],
  };
  const part = { ...selectPage(state, query), side };
  return { seq, part, meta: state.meta, pending: [...state.pending], agents: [...fold.roster.values()] };
}

interface PartBounds {
  /** The part grows from its oldest turn. */
  forwards: boolean;
  /** Bound of the turns' JSON. */
  bytes: number;
  /** Turns that are included however long they are. */
  least: number;
}

async function loadPart(
  { segments, head, hasMore, side }: ReturnType<typeof take>['part'],
  load: TranscriptSource['load'],
  bounds: PartBounds,
) {
  const { items, cut } = await loadSegments(segments, load, bounds);
  const { attachments, prompts, ...rest } = await load(side);
  const more = hasMore || cut;
  return {
    items: [...(more ? [] : (await load(head)).map(shownItem)), ...items],
    hasMore: more,
    ...rest,
    attachments: attachments.map(shownAttachment),
    prompts: prompts.map(shownPrompt),
  };
}

/** Loads as many turns as the bounds allow, one at a time, so that few texts are in memory. */
async function loadSegments(segments: Segment[], load: TranscriptSource['load'], bounds: PartBounds) {
  const { forwards, bytes: most, least } = bounds;
  const loaded: Item[][] = [];
  let bytes = 0;
  for (const segment of forwards ? segments : segments.toReversed()) {
    const items = (await load(segment)).map(shownItem);
    bytes += Buffer.byteLength(JSON.stringify(items));
    if (bytes > most && loaded.length >= least) break;
    loaded.push(items);
  }
  return { items: (forwards ? loaded : loaded.toReversed()).flat(), cut: loaded.length < segments.length };
}

/** Ids of the media to which any turn refers. */
function usedAttachments({ items, attachments }: StoredState): ReadonlySet<string> {
  if (attachments.size === 0) return new Set();
  const ids = items.flatMap((item) =>
    item.kind === 'turn'
      ? [...(item.attachmentIds ?? []), ...item.steps.flatMap(({ frames }) => frames.flatMap(attachmentsIn))]
      : [],
  );
  return new Set(ids);
}

const attachmentsIn = (frame: StoredTurn['steps'][number]['frames'][number]) =>
  frame.kind === 'text' ? (frame.attachmentIds ?? []) : [];

/** The batches after a number. */
export async function readOps(
  { live, load }: TranscriptSource,
  agentId: string,
  since: number,
): Promise<TranscriptOps> {
  if (!live) return { agent_id: agentId, batches: [], latest_seq: 0, complete: false };
  const latest_seq = live.seq(agentId);
  const held = live.since(agentId, since);
  const batches = (await load(held ?? [])).map(({ seq, ops }) => ({ seq, ops: ops.map(shownOp) }));
  return { agent_id: agentId, batches, latest_seq, complete: held !== undefined };
}

/** The inputs that opened the turns of an agent, or of all agents. */
export async function readUserMessages(source: TranscriptSource, agentId: string | undefined): Promise<UserMessages> {
  const { fold, load } = source;
  const ids = agentId === undefined ? [...fold.roster.keys()] : [agentId];
  const held = ids.map((id) => ({ agent_id: id, ...openings(stateOf(source, id)) }));
  const agents = (await load(held)).map(({ agent_id, messages, attachments }) => ({
    agent_id,
    messages: messages.map(({ prompt, ...message }) => ({ ...message, prompt: shownText(prompt) })),
    attachments: attachments.map(shownAttachment),
  }));
  return { agents };
}

function openings({ items, attachments }: StoredState) {
  const turns = items.filter((item) => item.kind === 'turn');
  const listed = turns.filter(({ prompt, attachmentIds }) => prompt !== undefined || attachmentIds !== undefined);
  const shown = new Set(listed.flatMap(({ attachmentIds = [] }) => attachmentIds));
  return {
    messages: listed.map(({ turnId, ordinal, state, origin, prompt = '', attachmentIds, startedAt }) => ({
      turn_id: turnId,
      ordinal,
      state,
      origin,
      prompt,
      ...(attachmentIds ? { attachment_ids: attachmentIds } : {}),
      ...(startedAt === undefined ? {} : { started_at: startedAt }),
    })),
    attachments: [...shown].flatMap((id) => attachments.get(id) ?? []),
  };
}
