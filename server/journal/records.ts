/**
 * The catalogue of journal records. A record is an event that clients receive, or an internal one; `append` accepts
 * drafts, numbers the events and writes them. Strings that may be long are texts (`texts.ts`). Records of unknown types
 * stay in the file and are skipped by folds.
 */
import type { Caller } from '#schema/rest/caller.ts';
import type { DurableFields, DurableType } from '#schema/events/catalogue.ts';
import type { ContextMessage, Origin, Part, TokenUsage, ToolCall, ToolSchema } from '#schema/engine.ts';
import type { PermissionMode } from '#schema/scalars.ts';
import type { ProcessIdentity } from '#server/processes/process-identity.ts';
import type { Stored, Text } from './texts.ts';

/** Media of an input, as the transcript displays them. */
export interface Attachment {
  mediaType: string;
  name?: string;
  size?: number;
  source?: { kind: 'url'; url: string } | { kind: 'file'; fileId: string } | { kind: 'session_media'; fileId: string };
}

export type TitleKind = 'replaceable' | 'generated' | 'custom';
/** Why an interaction ended without a client's answer. */
export type EndCause = 'turn_ended' | 'timed_out' | 'disposed' | 'server_stopped';

/** Members that a record has in addition to the event that clients receive; never sent. */
export interface JournalOnlyFields {
  'event.session.created': { titleKind: TitleKind };
  'session.meta.updated': { titleKind?: TitleKind };
  'agent.created': {
    kind: 'main' | 'sub';
    parentAgentId?: string;
    label?: string;
    purpose?: 'task' | 'swarm' | 'btw' | 'init';
  };
  'agent.disposed': { reason: 'closed' | 'archived' | 'evicted' };
  'prompt.submitted': { origin?: Origin };
  /** Messages that enter at the turn's next step. */
  'prompt.steered': { message: ContextMessage; reminders?: ContextMessage[] };
  'turn.started': { text?: string; attachments?: Attachment[] };
  'turn.ended': { cause: 'server_stopped' };
  'tool.result': {
    note?: string;
    todos?: { title: string; status: string }[];
    files?: { path: string; mtimeMs: number }[];
    agentsMd?: string[];
    /** Ids of the notifications that this result delivers. */
    delivered?: string[];
  };
  /** `by` is the client that answered. */
  'event.approval.resolved': { rule?: string; dir?: string; cause?: EndCause; by?: Caller };
  'event.question.requested': { taskId?: string };
  'event.question.answered': { cause?: EndCause; by?: Caller };
  'event.question.dismissed': { cause?: EndCause; by?: Caller };
  /** The process of a command, where the system identifies processes. */
  'task.started': { process: ProcessIdentity };
  /** `file` contains the whole output. */
  'task.terminated': { outputTail: string; file?: { path: string; bytes: number } };
  'subagent.failed': { aborted: true };
  'compaction.cancelled': { cause?: 'aborted' | 'failed' | 'changed' | 'server_stopped' };
  'goal.updated': {
    cause: 'created' | 'budget' | 'count' | 'lifecycle' | 'completion' | 'cleared';
    /** The turn that works on the goal from now on. */
    turnId?: number;
  };
  'cron.fired': { lastFiredAt: number };
  'context.spliced': {
    cause: 'input' | 'reminder' | 'hook' | 'shell' | 'tools' | 'copy' | 'compaction' | 'undo' | 'remove';
    enters?: 'turn' | 'step';
    attachments?: Attachment[];
    copyOf?: string;
    from?: (number | null)[];
  };
}

export interface AgentConfigFields {
  model?: string;
  thinkingEffort?: string;
  /** null = unknown now. */
  maxContextTokens?: number | null;
  permission?: PermissionMode;
  /** The client that changed the permission mode. */
  by?: Caller;
  runtimeId?: string;
}

export type SwarmTrigger = 'manual' | 'task' | 'tool';

export interface CronJob {
  id: string;
  cron: string;
  prompt: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  recurring?: boolean;
}

export interface StepResponseFields {
  turnId: number;
  step: number;
  stepId: string;
  parts: Part[];
  calls: ToolCall[];
  partial?: true;
  model: string;
  usage?: TokenUsage;
  contextTokens?: number;
  /** `length` counts context entries up to and including this response. */
  anchor?: { length: number; tokens: number };
  responseId?: string;
  projection?: string;
}

/** Internal records; they never have a `seq`. */
export interface InternalFields {
  forked: { source: string; kind: 'fork' | 'child' };
  'session.opened': { version: string; pid: number };
  'session.closed': { reason: 'exit' | 'archive' | 'idle' };
  'session.tools': { disabled: string[] };
  'agent.bound': { profile: string; tools: string[] | '*'; disallowed?: string[]; subagents?: string[] | '*' };
  'agent.config': AgentConfigFields;
  'agent.prompt': { text: Text; sha256: string; cause: string; frozen?: { skills: string; plugins: string } };
  /** `text` is the JSON of the list; older journals have `tools`. */
  'agent.tools': { sha256: string; tools?: ToolSchema[]; text?: Text };
  'mcp.tools': {
    serverName: string;
    hash: string;
    /** `text` is the JSON of the list; older journals have `tools`. */
    tools?: unknown[];
    text?: Text;
    enabledNames: string[];
    collisions?: string[];
  };
  'turn.skipped': { turnId: number };
  'step.response': StepResponseFields;
  'usage.recorded': { model: string; usage: TokenUsage; scope: 'turn' | 'session'; purpose: string };
  'plan.entered': { id: string; trigger: 'tool' | 'profile' | 'default' };
  'plan.left': { how: 'exit' | 'cancel' };
  'swarm.entered': { trigger: SwarmTrigger };
  'swarm.left': Record<never, never>;
  'shell.begun': { commandId: string; taskId: string; command: string };
  'shell.ended': { commandId: string; taskId: string; isError: boolean; outputTail: string };
  'cron.added': { job: CronJob };
  'cron.deleted': { id: string; cause: 'tool' | 'once' | 'stale' };
  'cron.cursor': { id: string; lastFiredAt: number };
  'context.cleared': Record<never, never>;
}

export type InternalType = keyof InternalFields;

type ExtrasOf<T> = T extends keyof JournalOnlyFields ? { x?: Stored<JournalOnlyFields[T]> } : { x?: undefined };

/** A record of an event type; clients receive it if it has a `seq`. */
export type EventRecord<T extends DurableType = DurableType> = {
  [K in T]: { seq?: number; agent: string; type: K } & Stored<DurableFields<K>> & ExtrasOf<K>;
}[T];

export type InternalRecord<T extends InternalType = InternalType> = {
  [K in T]: { agent: string; type: K } & Stored<InternalFields[K]>;
}[T];

export type JournalRecord = EventRecord | InternalRecord;

/** A splice without position and size: `append` fills them in, counting the records before it on its line. */
type OpenSplice = Omit<EventRecord<'context.spliced'>, 'start' | 'tokens'> & { start?: undefined; tokens?: undefined };

/** The input of `append`; `unsent` keeps an event record without a number. */
export type Draft = (JournalRecord | OpenSplice) & { unsent?: true };

/** A draft with all its fields. */
export type CompleteDraft = JournalRecord & { unsent?: true };

/** One line of the journal. */
export interface Batch {
  /** Milliseconds; never decreases along the file. */
  t: number;
  records: JournalRecord[];
}

/** Creates the record of a durable event. */
export function event<T extends DurableType>(
  agent: string,
  type: T,
  fields: Stored<DurableFields<T>>,
  ...extras: T extends keyof JournalOnlyFields ? [x?: Stored<JournalOnlyFields[T]>] : []
): CompleteDraft {
  const [x] = extras;
  return { agent, type, ...fields, ...(x ? { x } : {}) } as unknown as CompleteDraft;
}

/** Creates an internal record. */
export function internal<T extends InternalType>(
  agent: string,
  type: T,
  fields: Stored<InternalFields[T]>,
): CompleteDraft {
  return { agent, type, ...fields } as unknown as CompleteDraft;
}

/** A splice that appends messages to an agent's context. */
export function entering(
  agent: string,
  messages: Stored<ContextMessage>[],
  x: Stored<JournalOnlyFields['context.spliced']>,
): Draft {
  return { agent, type: 'context.spliced', deleteCount: 0, messages, x };
}

/** Returns the same draft, marked never to be numbered or sent. */
export function unsent<D extends Draft>(draft: D): D {
  return Object.assign({}, draft, { unsent: true as const });
}

/** Returns the record of a draft, its keys in the order of the file. */
export function recordOf(draft: CompleteDraft, seq: number | undefined): JournalRecord {
  const { unsent: _unsent, ...fields } = draft;
  return seq === undefined ? fields : Object.assign({ seq }, fields);
}
