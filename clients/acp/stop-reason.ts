/** How a prompt has ended, in the terms of the protocol. */
import type { RequestError, StopReason } from '@agentclientprotocol/sdk';
import { MAIN_AGENT, type Item, type TranscriptState } from '@service-code/client';
import * as z from 'zod';
import { internal } from './errors.ts';

/** `message` is for the user; it is sent before the reply. */
export type Outcome = { stopReason: StopReason; message?: string } | { error: RequestError };

/** Failures of a turn that have a stop reason. */
const REASONS: Partial<Record<string, StopReason>> = {
  'loop.max_steps_exceeded': 'max_turn_requests',
  'context.overflow': 'max_tokens',
  'provider.filtered': 'refusal',
};

const errorSchema = z.object({ level: z.literal('error'), event: z.object({ code: z.string(), message: z.string() }) });
const hookSchema = z.object({ content: z.string(), blocked: z.literal(true) });
const interruptionSchema = z.object({ turnId: z.number(), reason: z.string() });

/** The outcome of a turn that has ended; undefined while it runs. A turn that is not in the transcript was cancelled. */
export function turnOutcome(state: TranscriptState, turnId: string | undefined): Outcome | undefined {
  const turn = turnId === undefined ? undefined : state.byId.get(turnId);
  if (turn?.kind !== 'turn') return { stopReason: 'cancelled' };
  switch (turn.state) {
    case 'completed':
      return { stopReason: 'end_turn' };
    case 'cancelled':
      return wasStopped(state, turn.ordinal)
        ? { error: internal('The server has stopped during the turn') }
        : { stopReason: 'cancelled' };
    case 'failed':
      return failure(state, turn.turnId, turn.error);
    case 'queued':
    case 'running':
      return undefined;
  }
}

/** The first error among the items up to the next turn. */
export function errorNotice(items: readonly Item[]): { code: string; message: string } | undefined {
  for (const item of items) {
    if (item.kind === 'turn') return undefined;
    if (item.kind !== 'marker' || item.marker !== 'notice') continue;
    const { data } = errorSchema.safeParse(item.payload);
    if (data) return data.event;
  }
  return undefined;
}

/** The error of a failed turn follows it as a marker. */
function failure(state: TranscriptState, turnId: string, message = 'The turn has failed'): Outcome {
  const at = state.items.findIndex((item) => item.kind === 'turn' && item.turnId === turnId);
  const notice = errorNotice(state.items.slice(at + 1));
  if (!notice) return { error: internal(message) };
  const stopReason = REASONS[notice.code];
  return stopReason ? { stopReason } : { error: internal(notice.message, { code: notice.code }) };
}

function wasStopped(state: TranscriptState, ordinal: number): boolean {
  return state.items.some((item) => {
    if (item.kind !== 'marker' || item.marker !== 'interruption') return false;
    const { data } = interruptionSchema.safeParse(item.payload);
    return data?.turnId === ordinal && data.reason === 'server_stopped';
  });
}

/** The outcome of a prompt that a hook has refused. */
export function refusal(state: TranscriptState): Outcome {
  for (const item of state.items.toReversed()) {
    if (item.kind !== 'marker' || item.marker !== 'hook') continue;
    const { data } = hookSchema.safeParse(item.payload);
    if (data) return { stopReason: 'refusal', message: data.content };
  }
  return { stopReason: 'refusal' };
}

/** The running turn of the main agent. */
export function runningTurn(agents: ReadonlyMap<string, TranscriptState>): string | undefined {
  const last = agents.get(MAIN_AGENT)?.items.findLast((item) => item.kind === 'turn');
  return last?.kind === 'turn' && last.state === 'running' ? last.turnId : undefined;
}
