/**
 * Runs of hooks in one session: awaited ones, and fire-and-forget notifications of events. Unloading the session kills
 * all of them, and aborting a turn kills those that belong to it.
 */
import type { SessionContext } from '#server/agent/contract/context.ts';
import type { HookOutcome, Hooks } from '#server/hooks/hooks.ts';
import type { EventRecord, JournalRecord } from '#server/journal/records.ts';
import type { HookEvent } from '#schema/config/config.ts';
import { approvalInput, decisionInput, hookEventsOf, type HookInput } from './record-events.ts';

/** Most concurrent fire-and-forget runs of a session; events beyond that are dropped and reported. */
export const MAX_TOLD = 32;

/** A single instance: creating an error each time would be the most expensive part of unloading a session. */
const CLOSED = new Error('the session is closed');

export interface HookRuns {
  /** Runs the hooks of an event; resolves when all have exited. `signal` kills them. */
  ask(event: HookEvent, match: string, fields: Record<string, unknown>, signal: AbortSignal): Promise<HookOutcome>;
  /** Runs matching hooks without being awaited; an abort of the agent's turn kills them. */
  tell(agentId: string, event: HookEvent, match: string, facts: () => HookInput | Promise<HookInput>): void;
  /** Starts to run the hooks of records that the session appends. */
  listen(): void;
  /** Kills all runs and waits for their exit; later events run no hooks. */
  close(): Promise<void>;
}

/** Creates it; runs nothing until called. */
export function createHookRuns(session: SessionContext, hooks: Hooks): HookRuns {
  const { log, id, cwd } = session;
  const life = new AbortController();
  /** Abort controllers of the running turns' hooks, by agent. */
  const turns = new Map<string, AbortController>();
  /** Pending approvals whose results hooks match. */
  const approvals = new Map<string, EventRecord<'permission.approval.requested'>>();
  const running = new Set<Promise<void>>();
  let stopListening = () => {};

  function ask(event: HookEvent, match: string, fields: Record<string, unknown>, signal: AbortSignal) {
    const { title } = log.state.index;
    const input = {
      hook_event_name: event,
      session_id: id,
      cwd,
      client_type: 'server',
      ...(title === '' ? {} : { session_title: title }),
      ...fields,
    };
    return hooks.run({ event, match, cwd, input, signal });
  }

  function behind(
    event: HookEvent,
    signal: AbortSignal,
    facts: () => HookInput | undefined | Promise<HookInput | undefined>,
  ) {
    if (life.signal.aborted) return;
    if (running.size >= MAX_TOLD) {
      session.report(`hooks of ${event} in ${id} were left out`, new Error(`${MAX_TOLD} run already`));
      return;
    }
    const run = async () => {
      const found = await facts();
      if (found && hooks.wanted(event, found.match)) await ask(event, found.match, found.fields, signal);
    };
    const done: Promise<void> = run()
      .catch((error: unknown) => session.report(`hooks of ${event} in ${id} could not be run`, error))
      .finally(() => running.delete(done));
    running.add(done);
  }

  function ofTurn(agentId: string): AbortSignal {
    const turn = turns.get(agentId) ?? new AbortController();
    turns.set(agentId, turn);
    return AbortSignal.any([turn.signal, life.signal]);
  }

  function tellRecord(record: JournalRecord): void {
    if (record.type === 'turn.ended') {
      if (record.reason === 'cancelled') turns.get(record.agent)?.abort();
      turns.delete(record.agent);
    }
    for (const { event, input } of hookEventsOf(record.type)) {
      if (!hooks.wanted(event)) continue;
      // Hooks of a turn's end must outlive its abort.
      const signal = record.type === 'turn.ended' ? life.signal : ofTurn(record.agent);
      behind(event, signal, async () => input(await log.load(record)));
    }
    if (record.type === 'permission.approval.requested') asked(record);
    if (record.type === 'event.approval.resolved') resolved(record);
  }

  function asked(record: EventRecord<'permission.approval.requested'>): void {
    if (hooks.wanted('PermissionResult', record.toolName)) approvals.set(record.id, record);
    if (!hooks.wanted('PermissionRequest', record.toolName)) return;
    behind('PermissionRequest', ofTurn(record.agent), async () => approvalInput(await log.load(record)));
  }

  function resolved(record: EventRecord<'event.approval.resolved'>): void {
    const request = approvals.get(record.approval_id);
    if (!request) return;
    approvals.delete(record.approval_id);
    behind('PermissionResult', life.signal, async () => {
      const { match, fields } = approvalInput(await log.load(request));
      return { match, fields: { ...fields, ...decisionInput(record) } };
    });
  }

  return {
    ask,
    tell(agentId, event, match, facts) {
      if (hooks.wanted(event, match)) behind(event, ofTurn(agentId), facts);
    },
    listen() {
      stopListening = log.listen({
        line: ({ records }) => records.forEach(tellRecord),
        volatile: () => undefined,
        restarted: () => undefined,
      });
    },
    async close() {
      stopListening();
      life.abort(CLOSED);
      await Promise.all(running);
    },
  };
}
