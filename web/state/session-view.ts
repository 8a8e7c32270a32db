/** What a page shows of one session, as plain data. `reduce` in session-reducer.ts is the only writer. */
import type {
  ContentPart,
  Display,
  Message,
  PermissionMode,
  Phase,
  Session,
  SessionStatus,
  ToolOutput,
} from '../client/types.ts';

/** `preparing`: the model still writes the call; `cut`: the turn ended without a result. */
export type ToolState = 'preparing' | 'running' | 'done' | 'failed' | 'cut';

export interface ToolCall {
  id: string;
  name: string;
  state: ToolState;
  /** Parsed arguments; undefined while the model still writes them. */
  input: unknown;
  /** Length of the arguments so far, while `preparing`. */
  written: number;
  label?: string | undefined;
  display?: Display | undefined;
  output?: ToolOutput | undefined;
  /** Live output, the newest PROGRESS_LIMIT characters of it. */
  progress: string;
  percent?: number | undefined;
}

/** A message of the list. `local` ones were made from an event and give way to the server's own. */
export interface MessageEntry {
  kind: 'message';
  key: string;
  message: Message;
  local: boolean;
}

/** A step of the turn whose message was not read from the list yet. */
export interface StepEntry {
  kind: 'step';
  key: string;
  turnId: number;
  thinking: string;
  text: string;
  /** Tool call ids in the order the model made them. */
  calls: string[];
  done: boolean;
}

export interface NoticeEntry {
  kind: 'notice';
  key: string;
  tone: 'error' | 'warning' | 'info';
  text: string;
}

export type Entry = MessageEntry | StepEntry | NoticeEntry;

export interface QueuedPrompt {
  promptId: string;
  content: ContentPart[];
}

export interface Retry {
  attempt: number;
  maxAttempts: number;
  delayMs: number;
  reason: string;
}

export interface TurnStream {
  turnId: number;
  promptId?: string | undefined;
  /** Where the next delta of this turn starts, in UTF-16 units over all steps. */
  textEnd: number;
  thinkingEnd: number;
}

export interface Facts {
  model?: string | undefined;
  thinking?: string | undefined;
  permission: PermissionMode;
  planMode: boolean;
  contextTokens: number;
  maxContextTokens?: number | undefined;
}

export interface SessionView {
  session: Session | undefined;
  entries: Entry[];
  /** Id of the newest message that was read from the server; the next read starts after it. */
  tail: string | undefined;
  hasOlder: boolean;
  turn: TurnStream | undefined;
  phase: Phase | undefined;
  retry: Retry | undefined;
  tools: Record<string, ToolCall>;
  queue: QueuedPrompt[];
  facts: Facts;
  /** What features keep, by the name of their part; read with `partOf`. */
  parts: Readonly<Record<string, unknown>>;
  /**
   * What the view needs from the server: `messages` once a step is over (the finished message wins over its deltas),
   * `snapshot` when it noticed a hole.
   */
  wants: 'nothing' | 'messages' | 'snapshot';
}

export const emptyView: SessionView = {
  session: undefined,
  entries: [],
  tail: undefined,
  hasOlder: false,
  turn: undefined,
  phase: undefined,
  retry: undefined,
  tools: {},
  queue: [],
  facts: { permission: 'manual', planMode: false, contextTokens: 0 },
  parts: {},
  wants: 'nothing',
};

export const PROGRESS_LIMIT = 64 * 1024;

/** The facts of `GET status` as the view keeps them. */
export function factsOf(status: SessionStatus): Facts {
  return {
    model: status.model,
    thinking: status.thinking_level || undefined,
    permission: status.permission,
    planMode: status.plan_mode,
    contextTokens: status.context_tokens,
    maxContextTokens: status.max_context_tokens,
  };
}

/** How many steps at the end of the entries are over, so that their messages can be read. */
export function doneSteps(view: SessionView): number {
  return view.entries.filter((entry) => entry.kind === 'step' && entry.done).length;
}

/** Messages that people see; reminders and the like are for the model only. */
export function isShown(message: Message): boolean {
  if (message.role === 'assistant') return message.content.length > 0;
  if (message.role !== 'user') return false;
  const kind = message.metadata?.origin.kind ?? 'user';
  return ['user', 'skill_activation', 'plugin_command', 'shell_command', 'compaction_summary'].includes(kind);
}
