/** The page's view of one session: the transcripts of its agents, and data that they do not contain. */
import {
  emptyTranscript,
  MAIN_AGENT,
  type PermissionMode,
  type Session,
  type SessionStatus,
  type TranscriptCaller,
  type TranscriptPrompt,
  type TranscriptState,
} from '@service-code/client';
import { message, type Message } from '../messages/messages.ts';
import type { Row, Turn } from './rows.ts';

/** Replaced after each change; the transcripts in it are the same objects, mutated in place. */
export interface SessionView {
  readonly id: string;
  readonly session: Session | undefined;
  /** Read when the session is opened: the settings of an agent that has not started. */
  readonly status: SessionStatus | undefined;
  /** By agent. Subagents whose conversation is not open have no steps. */
  readonly agents: ReadonlyMap<string, TranscriptState>;
  readonly main: TranscriptState;
  /** The main agent's conversation. */
  readonly rows: readonly Row[];
}

const nothing = emptyTranscript();

export const emptyView: SessionView = {
  id: '',
  session: undefined,
  status: undefined,
  agents: new Map(),
  main: nothing,
  rows: [],
};

export const mainOf = (agents: ReadonlyMap<string, TranscriptState>): TranscriptState =>
  agents.get(MAIN_AGENT) ?? nothing;

/** The running turn. */
export function runningTurn({ items }: Pick<TranscriptState, 'items'>): Turn | undefined {
  const last = items.findLast((item) => item.kind === 'turn');
  return last?.kind === 'turn' && last.state === 'running' ? last : undefined;
}

/** Queued prompts. */
export const queueOf = ({ prompts }: Pick<TranscriptState, 'prompts'>): TranscriptPrompt[] =>
  [...prompts.values()].filter(({ status }) => status === 'queued');

/** The reason and the duration of the running step's wait for a retry. */
export function retryText({ items }: Pick<TranscriptState, 'items'>): Message | undefined {
  const retry = runningTurn({ items })?.steps.at(-1)?.retry;
  if (!retry) return undefined;
  const wait = Math.max(1, Math.round(retry.delayMs / 1000));
  const { errorMessage: reason, nextAttempt: next, maxAttempts: most } = retry;
  return message('conversation.retry', { reason, wait, next, most });
}

export interface AgentStatus {
  model: string | undefined;
  /** Undefined while it is not read. */
  effort: string | undefined;
  permission: PermissionMode;
  /** The client that set it. */
  permissionBy: TranscriptCaller | undefined;
  planMode: boolean;
  swarmMode: boolean;
  contextTokens: number;
  maxContextTokens: number | undefined;
}

/** The main agent's settings, and the usage of its context. */
export function factsOf({ main, status }: Pick<SessionView, 'main' | 'status'>): AgentStatus {
  const { agent = {}, modes } = main.meta;
  return {
    model: agent.model ?? status?.model,
    effort: agent.thinkingEffort ?? status?.thinking_level,
    permission: agent.permission ?? status?.permission ?? 'manual',
    permissionBy: agent.permissionBy,
    // A default applies until the agent has started.
    planMode: modes?.plan !== undefined || (agent.model === undefined && status?.plan_mode === true),
    swarmMode: modes?.swarm !== undefined,
    contextTokens: agent.contextTokens ?? status?.context_tokens ?? 0,
    maxContextTokens: agent.maxContextTokens ?? status?.max_context_tokens,
  };
}
