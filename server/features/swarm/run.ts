/** Runs the members of a swarm by their schedule, until all have ended or the call is aborted. */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import { TurnAborted } from '#server/agent/contract/errors.ts';
import { cutText } from '#server/text/truncate.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { event } from '#server/journal/records.ts';
import type { ErrorPayload } from '#schema/engine.ts';
import { runSubagent } from '../subagents/run.ts';
import { subagentTimeoutMs } from '../subagents/settings.ts';
import type { WantedStart } from '../subagents/start.ts';
import { modelFactsOf, type Subagents } from '../subagents/subagents.ts';
import { createSchedule } from './schedule.ts';
import type { Agent } from '#server/agent/contract/agent.ts';

const LABEL_CHARS = 1000;

/** The task of one member. */
export interface Member {
  profile: string;
  prompt: string;
  /** The item of a new member. */
  item?: string;
  /** Id of an earlier agent to resume. */
  resume?: string;
}

export interface MemberEnd {
  /** Undefined if no agent was created. */
  agentId?: string;
  started: boolean;
  outcome: 'completed' | 'failed' | 'aborted';
  /** The member's last message, or the reason why there is none. */
  text: string;
}

export interface SwarmDeps {
  session: SessionContext;
  subagents: Subagents;
  caller: AgentContext;
  toolCallId: string;
  description: string;
  start: WantedStart;
  concurrency: number | undefined;
  /** Signal of the waiting tool call. */
  signal: AbortSignal;
}

/** A started member. */
interface Run {
  controller: AbortController;
  agentId?: string;
  /** Resumes a member that waits because of a rate limit; called with false if the call was aborted. */
  goOn?: ((goes: boolean) => void) | undefined;
  timedOut?: string;
  callOffTimeout(): void;
}

const NEVER_BEGAN: MemberEnd = { started: false, outcome: 'aborted', text: 'It was not started.' };

/** Runs the members and returns their outcomes in the same order. Never rejects. */
export async function runSwarm(members: readonly Member[], deps: SwarmDeps): Promise<MemberEnd[]> {
  const { session, subagents, caller, signal } = deps;
  const { log, clock, services } = session;
  const schedule = createSchedule(members.length, deps.concurrency);
  const ends = new Map<number, MemberEnd>();
  const runs = new Map<number, Run>();
  /** Monotonic time, so that a clock that is set back delays no member. */
  let time = clock.now();
  let callOffTimer = () => {};
  let over = () => {};
  const done = new Promise<void>((resolve) => (over = resolve));

  const now = () => (time = Math.max(time, clock.now()));

  /** Starts the members that the schedule allows now, and sets a timer for the next ones. */
  function launch(): void {
    callOffTimer();
    if (signal.aborted) return;
    for (const number of schedule.take(now())) {
      const waiting = runs.get(number)?.goOn;
      if (waiting) waiting(true);
      else void begin(number);
    }
    const at = schedule.nextAt();
    if (at === undefined) return;
    const due = () => {
      time = Math.max(time, at);
      launch();
    };
    callOffTimer = clock.setTimeout(due, Math.max(0, at - time));
  }

  async function begin(number: number): Promise<void> {
    const member = members[number];
    if (!member) return;
    const run: Run = { controller: new AbortController(), callOffTimeout: () => {} };
    runs.set(number, run);
    end(number, await work(number, member, run));
  }

  function end(number: number, how: MemberEnd): void {
    runs.get(number)?.callOffTimeout();
    runs.delete(number);
    ends.set(number, how);
    schedule.ended(number);
    launch();
    if (ends.size === members.length) over();
  }

  async function work(number: number, member: Member, run: Run): Promise<MemberEnd> {
    const { profile: name, prompt, item, resume } = member;
    const label = item === undefined ? undefined : cutText(item, LABEL_CHARS);
    const request = { purpose: 'swarm' as const, profile: name, resume, start: deps.start, label };
    try {
      // While the call waited for permission, another call may have resumed the agent.
      if (resume !== undefined) subagents.resumable(caller.id, resume);
      return await subagents.withChild(request, caller.id, async (child): Promise<MemberEnd> => {
        if (signal.aborted) return NEVER_BEGAN;
        run.agentId = child.id;
        log.append([spawned(number, member, child), event(caller.id, 'subagent.started', { subagentId: child.id })]);
        startTimeout(run);
        const { end: ran } = await runSubagent(prompt, {
          session,
          caller,
          child,
          name,
          profile: services.profiles(session).get(name),
          signal: run.controller.signal,
          limited: (error) => limited(number, run, child, error),
        });
        const began = { agentId: child.id, started: true };
        if (ran.status === 'completed') return { ...began, outcome: 'completed', text: ran.summary };
        if (run.timedOut !== undefined) return { ...began, outcome: 'failed', text: run.timedOut };
        return { ...began, outcome: ran.status === 'stopped' ? 'aborted' : 'failed', text: ran.error };
      });
    } catch (error) {
      const began = run.agentId === undefined ? { started: false } : { agentId: run.agentId, started: true };
      return { ...began, outcome: 'failed', text: errorMessage(error) || 'It could not be started.' };
    }
  }

  function spawned(number: number, { item, profile }: Member, child: Agent) {
    return event(caller.id, 'subagent.spawned', {
      subagentId: child.id,
      subagentName: profile,
      parentToolCallId: deps.toolCallId,
      parentAgentId: caller.id,
      callerAgentId: caller.id,
      description: cutText(item ?? deps.description, LABEL_CHARS),
      swarmIndex: number + 1,
      runInBackground: false,
      ...modelFactsOf(child),
    });
  }

  /** Starts the time limit of one attempt. */
  function startTimeout(run: Run): void {
    const ms = subagentTimeoutMs(session.config.effective());
    if (ms === 0) return;
    run.callOffTimeout = clock.setTimeout(() => {
      run.timedOut = `The subagent reached its time limit of ${ms / 1000} s.`;
      run.controller.abort(new TurnAborted('server', run.timedOut));
    }, ms);
  }

  /** Suspends the member until the schedule resumes it; resolves to false if it does not. */
  async function limited(number: number, run: Run, child: Agent, error: ErrorPayload): Promise<boolean> {
    run.callOffTimeout();
    if (!schedule.limited(number, now())) return false;
    log.append([event(caller.id, 'subagent.suspended', { subagentId: child.id, reason: error.message })]);
    const going = new Promise<boolean>((resolve) => (run.goOn = resolve));
    launch();
    const goes = await going;
    run.goOn = undefined;
    if (!goes) return false;
    log.append([event(caller.id, 'subagent.started', { subagentId: child.id })]);
    startTimeout(run);
    return true;
  }

  function abort(): void {
    callOffTimer();
    for (const [number, { controller, goOn }] of runs) {
      schedule.ended(number);
      controller.abort(signal.reason);
      goOn?.(false);
    }
    members.forEach((_, number) => {
      if (!runs.has(number) && !ends.has(number)) end(number, NEVER_BEGAN);
    });
  }

  /** Notifies the schedule when the answer of a member starts to stream. */
  const stopListening = log.listen({
    line: () => {},
    restarted: () => {},
    volatile(agentId, event) {
      if (event.type !== 'agent.status.updated' || event.fields.phase?.kind !== 'streaming') return;
      for (const [number, run] of runs) {
        if (run.agentId !== agentId) continue;
        schedule.answered(number);
        // Members must not be started within the listener of the log.
        queueMicrotask(launch);
      }
    },
  });
  signal.addEventListener('abort', abort, { once: true });
  try {
    launch();
    if (signal.aborted) abort();
    await done;
  } finally {
    signal.removeEventListener('abort', abort);
    stopListening();
    callOffTimer();
  }
  return members.map((_, number) => ends.get(number) ?? NEVER_BEGAN);
}
