/** The hooks of an event: which match, all of them run side by side, what they say together. */
import { childEnvironment } from '#server/processes/child-environment.ts';
import type { Spawn } from '#server/processes/spawn.ts';
import type { Logger } from '#server/logging/log.ts';
import type { HookConfig, HookEvent } from '#schema/config.ts';
import { hookReply, type HookReply } from './reply.ts';
import { runHook } from './run-hook.ts';

export const HOOK_DEFAULT_TIMEOUT_S = 30;

/** A hook of the configuration, or of who else brings some: those may name their own directory and variables. */
export interface HookEntry extends HookConfig {
  /** The session's unless given. */
  cwd?: string;
  /** Beside the server's own, without its secrets. */
  env?: Record<string, string>;
}

/** Something that happened, as hooks are told of it. */
export interface HookCall {
  event: HookEvent;
  /** What matchers look at; `''` for an event that has nothing to match. */
  match: string;
  /** The session's directory. */
  cwd: string;
  /** What hooks read: one JSON object. */
  input: Record<string, unknown>;
  /** Kills those that still run. */
  signal: AbortSignal;
}

export interface HookOutcome {
  /** Why one of them says no: the first in the order of the entries. */
  blocked?: string;
  /** What the others add, in the order of the entries. */
  texts: string[];
}

export interface Hooks {
  /** Whether any hook would run; without `match` whether one might. */
  wanted(event: HookEvent, match?: string): boolean;
  /** Runs those that match; resolves when none runs any more. Never rejects: what goes wrong with a hook allows. */
  run(call: HookCall): Promise<HookOutcome>;
}

export interface HooksDeps {
  /** Asked at each use, so that a change counts at once. */
  entries(): readonly HookEntry[];
  /** The server's variables. */
  environment(): NodeJS.ProcessEnv;
  spawn: Spawn;
  log: Pick<Logger, 'warn'>;
}

/** Creates it; starts nothing. */
export function createHooks({ entries, environment, spawn, log }: HooksDeps): Hooks {
  async function runOne(entry: HookEntry, { event, cwd: sessionCwd, input, signal }: HookCall): Promise<HookReply> {
    const { command, timeout = HOOK_DEFAULT_TIMEOUT_S, cwd = sessionCwd, env } = entry;
    try {
      const end = await runHook(spawn, {
        command,
        cwd,
        env: { ...hookEnvironment(environment(), cwd), ...env },
        input: JSON.stringify(input),
        timeoutMs: timeout * 1000,
        signal,
      });
      if (end.stopped === 'timeout') log.warn('a hook took too long and was stopped', { event, timeout });
      return hookReply(end);
    } catch (error) {
      if (!signal.aborted) log.warn('a hook could not be run', { event, err: error });
      return {};
    }
  }

  return {
    wanted: (event, match) =>
      entries().some((entry) => entry.event === event && (match === undefined || matches(entry, match))),
    async run(call) {
      const matching = entries().filter((entry) => entry.event === call.event && matches(entry, call.match));
      const replies = await Promise.all(distinct(matching, call.cwd).map((entry) => runOne(entry, call)));
      const blocked = replies.find((reply) => reply.blocked !== undefined)?.blocked;
      return { ...(blocked === undefined ? {} : { blocked }), texts: replies.flatMap(({ text }) => text ?? []) };
    },
  };
}

/** A matcher that is no regular expression matches nothing. */
function matches({ matcher }: HookEntry, value: string): boolean {
  if (!matcher) return true;
  try {
    return new RegExp(matcher).test(value);
  } catch {
    return false;
  }
}

/** The first of those that run the same command in the same directory. */
function distinct(entries: readonly HookEntry[], sessionCwd: string): HookEntry[] {
  const first = new Map<string, HookEntry>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.cwd ?? sessionCwd, entry.command]);
    if (!first.has(key)) first.set(key, entry);
  }
  return [...first.values()];
}

/** As commands of the model have it: nothing that asks or colours. */
const hookEnvironment = (environment: NodeJS.ProcessEnv, cwd: string): NodeJS.ProcessEnv => ({
  GIT_TERMINAL_PROMPT: '0',
  ...childEnvironment(environment),
  NO_COLOR: '1',
  TERM: 'dumb',
  SHELL: '/bin/sh',
  PWD: cwd,
});
