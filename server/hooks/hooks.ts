/** Runs the hooks of an event: selects the matching ones, runs them concurrently and merges their replies. */
import { childEnvironment } from '#server/processes/child-environment.ts';
import type { Spawn } from '#server/processes/spawn.ts';
import type { Logger } from '#server/logging/log.ts';
import { memoizeByObject } from '#server/memo/by-object.ts';
import type { HookConfig, HookEvent } from '#schema/config/config.ts';
import { hookReply, type HookReply } from './reply.ts';
import { runHook } from './run-hook.ts';

export const HOOK_DEFAULT_TIMEOUT_S = 30;

/** A hook of the configuration or of a plugin; plugins may set a directory and variables. */
export interface HookEntry extends HookConfig {
  /** Default: the session's directory. */
  cwd?: string;
  /** In addition to the server's variables without its secrets. */
  env?: Record<string, string>;
}

/** An occurrence of an event, as hooks receive it. */
export interface HookCall {
  event: HookEvent;
  /** The value for matchers; `''` for an event without one. */
  match: string;
  /** The session's directory. */
  cwd: string;
  /** The hooks' standard input, as one JSON object. */
  input: Record<string, unknown>;
  /** Kills the hooks that still run. */
  signal: AbortSignal;
}

export interface HookOutcome {
  /** The reason of the first hook, in the order of the entries, that blocks. */
  blocked?: string;
  /** Texts added by the others, in the order of the entries. */
  texts: string[];
}

export interface Hooks {
  /** Whether any hook would run; without `match`, whether one might. */
  wanted(event: HookEvent, match?: string): boolean;
  /** Runs the matching hooks and resolves when all have exited. Never rejects: a failing hook allows. */
  run(call: HookCall): Promise<HookOutcome>;
}

export interface HooksDeps {
  /** Called at each use, so that a change has an immediate effect. */
  entries(): readonly HookEntry[];
  /** The server's variables. */
  environment(): NodeJS.ProcessEnv;
  spawn: Spawn;
  log: Pick<Logger, 'warn'>;
}

/** Creates the runner; starts no process. */
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

/** Memoized, because every call is compared with every hook. */
const compiled = memoizeByObject(({ matcher = '' }: HookEntry): RegExp | undefined => {
  try {
    return new RegExp(matcher);
  } catch {
    return undefined;
  }
});

/** An invalid regular expression matches no value. */
const matches = (entry: HookEntry, value: string): boolean => !entry.matcher || compiled(entry)?.test(value) === true;

/** Deduplicates entries with the same command and directory; the first one is used. */
function distinct(entries: readonly HookEntry[], sessionCwd: string): HookEntry[] {
  const first = new Map<string, HookEntry>();
  for (const entry of entries) {
    const key = JSON.stringify([entry.cwd ?? sessionCwd, entry.command]);
    if (!first.has(key)) first.set(key, entry);
  }
  return [...first.values()];
}

/** The environment of the model's commands: no prompts, no colours. */
const hookEnvironment = (environment: NodeJS.ProcessEnv, cwd: string): NodeJS.ProcessEnv => ({
  GIT_TERMINAL_PROMPT: '0',
  ...childEnvironment(environment),
  NO_COLOR: '1',
  TERM: 'dumb',
  SHELL: '/bin/sh',
  PWD: cwd,
});
