/** The model's context, per agent. */
import type { ContextMessage, Part, ToolOutput } from '#schema/engine.ts';
import type { AgentConfigFields, InternalFields, EventRecord, JournalRecord } from '../records.ts';
import { BlobText, type Stored, type Text } from '../texts.ts';
import { estimateText, estimateTools } from '../token-estimate.ts';
import type { FeatureFolds } from './feature-projection.ts';

/** An approval for the whole session: the call's rule, and the directory to which it is limited. */
export interface RememberedRule {
  rule: string;
  dir?: string;
}

/** The state that an undo of this anchor restores. */
export interface Checkpoint {
  /** Numbers of delivered notifications and of named nested instruction files. */
  delivered: number;
  agentsMd: number;
  /** Values saved by features, by name. */
  features: Record<string, unknown>;
}

/** Immutable: a copy of the list is a copy of the context. */
export interface ContextEntry {
  readonly message: Stored<ContextMessage>;
  /** Set on entries that a step created. */
  readonly turnId?: number;
  readonly step?: number;
  /** Set on undo anchors that no compaction has passed. */
  readonly checkpoint?: Checkpoint;
}

export interface TokenAnchor {
  /** Context entries up to and including the measured response. */
  length: number;
  tokens: number;
}

export interface ContextState {
  /** One per step, even an empty one; only a `context.spliced` moves indexes. */
  entries: ContextEntry[];
  /** The rendered system prompt; `""` before the first rendering. */
  system: Text;
  systemSha256?: string;
  /** Skill and plugin sections of the first rendering, reused by later ones. */
  frozen?: Stored<NonNullable<InternalFields['agent.prompt']['frozen']>>;
  /** Last values of `agent.config`. */
  config: AgentConfigFields;
  bound?: InternalFields['agent.bound'];
  /** Size as displayed. */
  contextTokens: number;
  anchors: TokenAnchor[];
  /** Number of entries, up to the newest summary, that replace compacted ones; no undo crosses it. 0: no summary. */
  barrier: number;
  /** Ids of the notifications that the model received, in order. */
  delivered: Set<string>;
  /** Stale-file guard: path -> mtime in ms as of the last read or write. */
  files: Map<string, number>;
  /** Nested instruction files already named to the model. */
  agentsMd: Set<string>;
  /** Hash of the tool list of the last request, and an estimate of its tokens. */
  tools: { sha256: string | undefined; tokens: number };
  /** Last discovery per MCP server. */
  mcpTools: Map<string, InternalFields['mcp.tools']>;
  /** Rules remembered for the session; one list shared by all agents. */
  rules: RememberedRule[];
  /** Tools disabled for the session; shared by all agents. */
  disabledTools: string[];
  /** The running step's entry and its calls without result. */
  open: { index: number; calls: Set<string> } | undefined;
  /** Set between an undo's splice and its `context.undone`. */
  undoing: Checkpoint | undefined;
}

export interface Contexts {
  /** Contexts by agent id. */
  agents: Map<string, ContextState>;
  /** Queried for checkpoints at undo anchors. */
  features: FeatureFolds;
}

/** Entries as messages, in order; `server/models/request-history.ts` omits or moves some in a request. */
export function requestMessages(context: ContextState): Stored<ContextMessage>[] {
  return context.entries.map((entry) => entry.message);
}

/** Whether a message opens a turn, so that an undo may stop at it. */
export function isUndoAnchor(message: Pick<Stored<ContextMessage>, 'role' | 'origin'>): boolean {
  const { role, origin } = message;
  if (role !== 'user') return false;
  if (!origin || origin.kind === 'user') return true;
  return (origin.kind === 'skill_activation' || origin.kind === 'plugin_command') && origin.trigger === 'user-slash';
}

/** Whether no model request followed the last compaction, which removed the earlier reminders. */
export function beginsAnew({ barrier, entries }: Pick<ContextState, 'barrier' | 'entries'>): boolean {
  if (barrier === 0) return false;
  for (let at = barrier; at < entries.length; at += 1) if (entries[at]?.step !== undefined) return false;
  return true;
}

/** The agent's context; an empty one, not stored, before the agent's first record. */
export function readContext(contexts: Contexts, agent: string): ContextState {
  return contexts.agents.get(agent) ?? emptyContext(contexts);
}

/** The agent's context, created at its first record. */
function contextOf(contexts: Contexts, agent: string): ContextState {
  const known = contexts.agents.get(agent);
  if (known) return known;
  const made = emptyContext(contexts);
  contexts.agents.set(agent, made);
  return made;
}

function emptyContext(contexts: Contexts): ContextState {
  const any = contexts.agents.values().next().value;
  return {
    entries: [],
    system: '',
    config: {},
    contextTokens: 0,
    anchors: [],
    barrier: 0,
    delivered: new Set(),
    files: new Map(),
    agentsMd: new Set(),
    tools: { sha256: undefined, tokens: 0 },
    mcpTools: new Map(),
    rules: any?.rules ?? [],
    disabledTools: any?.disabledTools ?? [],
    open: undefined,
    undoing: undefined,
  };
}

function checkpointNow(contexts: Contexts, agent: string): Checkpoint {
  const { delivered, agentsMd } = contextOf(contexts, agent);
  const features: Checkpoint['features'] = {};
  for (const projection of contexts.features.projections) {
    features[projection.name] = projection.checkpoint(contexts.features, agent);
  }
  return { delivered: delivered.size, agentsMd: agentsMd.size, features };
}

function withoutCheckpoint({ checkpoint: _checkpoint, ...entry }: ContextEntry): ContextEntry {
  return entry;
}

function splice(contexts: Contexts, record: EventRecord<'context.spliced'>): void {
  const context = contextOf(contexts, record.agent);
  const { start, deleteCount, messages, x } = record;
  if (x?.copyOf !== undefined) {
    const { entries, anchors, tools } = readContext(contexts, x.copyOf);
    context.entries = entries.map(withoutCheckpoint);
    context.anchors = [...anchors];
    context.tools = tools;
    context.barrier = 0;
  }
  const added = messages.map((message): ContextEntry => {
    const entry = isUndoAnchor(message) ? { message, checkpoint: checkpointNow(contexts, record.agent) } : { message };
    if (message.origin?.kind === 'task') context.delivered.add(message.origin.notificationId);
    return entry;
  });
  const removed = context.entries.splice(start, deleteCount, ...added);
  const { anchors } = context;
  // Anchors ascend by `length`.
  if ((anchors.at(-1)?.length ?? 0) > start) context.anchors = anchors.filter(({ length }) => length <= start);
  context.contextTokens = record.tokens;
  if (x?.cause === 'compaction') {
    context.entries = context.entries.map(withoutCheckpoint);
    context.barrier = start + added.length;
  }
  if (x?.cause === 'undo') context.undoing = removed.find((entry) => entry.checkpoint)?.checkpoint;
}

/** Creates the entry of a step. */
function stepEntry(
  message: Stored<ContextMessage>,
  turnId: number | undefined,
  step: number | undefined,
): ContextEntry {
  return turnId === undefined || step === undefined ? { message } : { message, turnId, step };
}

function respond(context: ContextState, record: Extract<JournalRecord, { type: 'step.response' }>): void {
  const { open } = context;
  const entry = open && context.entries[open.index];
  if (!open || !entry) return;
  const toolCalls = record.partial ? [] : record.calls;
  const { turnId, step } = entry;
  const message: Stored<ContextMessage> = { role: 'assistant', content: record.parts, toolCalls };
  context.entries[open.index] = stepEntry(message, turnId, step);
  for (const call of toolCalls) open.calls.add(call.id);
  if (record.anchor) context.anchors.push(record.anchor);
  if (record.contextTokens !== undefined) context.contextTokens = record.contextTokens;
}

/** A result's output as the content of its message. */
export function outputParts(output: Stored<ToolOutput> | Text): Stored<Part>[] {
  return typeof output === 'string' || output instanceof BlobText ? [{ type: 'text', text: output }] : output;
}

function answer(context: ContextState, record: EventRecord<'tool.result'>): void {
  const { x, toolCallId } = record;
  for (const file of x?.files ?? []) context.files.set(file.path, file.mtimeMs);
  for (const path of x?.agentsMd ?? []) context.agentsMd.add(path);
  for (const id of x?.delivered ?? []) context.delivered.add(id);
  const { open } = context;
  const step = open && context.entries[open.index];
  if (!open?.calls.delete(toolCallId)) return;
  const message: Stored<ContextMessage> = {
    role: 'tool',
    content: outputParts(record.output),
    toolCalls: [],
    toolCallId,
  };
  if (record.isError) message.isError = true;
  if (x?.note !== undefined) message.note = x.note;
  context.entries.push(stepEntry(message, step?.turnId, step?.step));
}

function toolTokens({ tools = [], text }: InternalFields['agent.tools']): number {
  return text === undefined ? estimateTools(tools) : estimateText(text);
}

/** Sets preserve the order of insertion. */
const firstOf = <T>(grown: ReadonlySet<T>, size: number): Set<T> => new Set([...grown].slice(0, size));

function undone(contexts: Contexts, agent: string): void {
  const context = contextOf(contexts, agent);
  const { undoing } = context;
  context.undoing = undefined;
  if (!undoing) return;
  for (const projection of contexts.features.projections) {
    projection.restore(contexts.features, agent, undoing.features[projection.name]);
  }
  context.delivered = firstOf(context.delivered, undoing.delivered);
  context.agentsMd = firstOf(context.agentsMd, undoing.agentsMd);
}

export const contextProjection = {
  initial: (features: FeatureFolds): Contexts => ({ agents: new Map(), features }),
  apply(contexts: Contexts, record: JournalRecord): void {
    // Called only for handled types: other records must not create a context.
    const at = () => contextOf(contexts, record.agent);
    switch (record.type) {
      case 'context.spliced':
        splice(contexts, record);
        break;
      case 'turn.step.started': {
        const context = at();
        context.open = { index: context.entries.length, calls: new Set() };
        const message: Stored<ContextMessage> = { role: 'assistant', content: [], toolCalls: [] };
        context.entries.push(stepEntry(message, record.turnId, record.step));
        break;
      }
      case 'step.response':
        respond(at(), record);
        break;
      case 'tool.result':
        answer(at(), record);
        break;
      case 'turn.step.completed':
      case 'turn.step.retrying':
      case 'turn.step.interrupted':
      case 'turn.ended':
        at().open = undefined;
        break;
      case 'compaction.completed':
        at().contextTokens = record.result.tokensAfter;
        break;
      case 'context.undone':
        undone(contexts, record.agent);
        break;
      case 'context.cleared':
        Object.assign(at(), { entries: [], anchors: [], barrier: 0, contextTokens: 0, open: undefined });
        break;
      case 'agent.prompt': {
        const context = at();
        context.system = record.text;
        context.systemSha256 = record.sha256;
        if (record.frozen) context.frozen = record.frozen;
        break;
      }
      case 'agent.config': {
        const context = at();
        const { agent: _agent, type: _type, by: _by, ...config } = record;
        context.config = { ...context.config, ...config };
        if (record.runtimeId !== undefined) context.files.clear();
        break;
      }
      case 'agent.bound': {
        const { agent: _agent, type: _type, ...bound } = record;
        at().bound = bound;
        break;
      }
      case 'agent.tools':
        at().tools = { sha256: record.sha256, tokens: toolTokens(record) };
        break;
      case 'mcp.tools': {
        const { agent: _agent, type: _type, ...discovered } = record;
        at().mcpTools.set(record.serverName, discovered);
        break;
      }
      case 'session.tools':
        at().disabledTools = record.disabled;
        break;
      case 'event.approval.resolved': {
        const { rule, dir } = record.x ?? {};
        const { rules } = at();
        if (rule === undefined || rules.some((known) => known.rule === rule && known.dir === dir)) break;
        rules.push({ rule, ...(dir === undefined ? {} : { dir }) });
        break;
      }
    }
  },
};
