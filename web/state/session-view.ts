/** What the page shows of one session: the transcripts of its agents, and what they do not tell. */
import type { TranscriptCaller } from '#schema/caller.ts';
import { emptyTranscript } from '#server/transcript/reducer/state.ts';
import {
  MAIN_AGENT,
  type PermissionMode,
  type Session,
  type SessionStatus,
  type TranscriptPrompt,
  type TranscriptState,
} from '../client/types.ts';
import type { Row, Turn } from './timeline.ts';

/** Made anew whenever something changed; the transcripts in it are the same ones, changed in place. */
export interface SessionView {
  readonly id: string;
  readonly session: Session | undefined;
  /** As read when the session was opened: what an agent is set to that has not begun. */
  readonly status: SessionStatus | undefined;
  /** By agent. Of subagents whose conversation is not open there are no steps. */
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

/** The turn that runs. */
export function runningTurn({ items }: Pick<TranscriptState, 'items'>): Turn | undefined {
  const last = items.findLast((item) => item.kind === 'turn');
  return last?.kind === 'turn' && last.state === 'running' ? last : undefined;
}

/** Prompts that wait for their turn. */
export const queueOf = ({ prompts }: Pick<TranscriptState, 'prompts'>): TranscriptPrompt[] =>
  [...prompts.values()].filter(({ status }) => status === 'queued');

/** Why the running step waits, and for what. */
export function retryText({ items }: Pick<TranscriptState, 'items'>): string | undefined {
  const retry = runningTurn({ items })?.steps.at(-1)?.retry;
  if (!retry) return undefined;
  const wait = Math.max(1, Math.round(retry.delayMs / 1000));
  return `${retry.errorMessage}\nTrying again in ${wait} s (attempt ${retry.nextAttempt} of ${retry.maxAttempts}).`;
}

export interface Facts {
  model: string | undefined;
  permission: PermissionMode;
  /** The client that set it. */
  permissionBy: TranscriptCaller | undefined;
  planMode: boolean;
  swarmMode: boolean;
  contextTokens: number;
  maxContextTokens: number | undefined;
}

/** What the main agent is set to, and how full its context is. */
export function factsOf({ main, status }: Pick<SessionView, 'main' | 'status'>): Facts {
  const { agent = {}, modes } = main.meta;
  return {
    model: agent.model ?? status?.model,
    permission: agent.permission ?? status?.permission ?? 'manual',
    permissionBy: agent.permissionBy,
    // A default counts until the agent has begun.
    planMode: modes?.plan !== undefined || (agent.model === undefined && status?.plan_mode === true),
    swarmMode: modes?.swarm !== undefined,
    contextTokens: agent.contextTokens ?? status?.context_tokens ?? 0,
    maxContextTokens: agent.maxContextTokens ?? status?.max_context_tokens,
  };
}
