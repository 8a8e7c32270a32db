/** How a subagent starts: its model, its conversation, and the options that tools offer for both. */
import * as z from 'zod';
import type { SessionContext } from '#server/agent/contract/context.ts';
import { copiedHistory } from '#server/agent/copied-history.ts';
import { reminder } from '#server/agent/prompt/reminders.ts';
import { errorMessage } from '#server/errors/service-error.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { CALLERS_MODEL, subagentPool, type SubagentPool } from '#server/models/subagent-pool.ts';
import { ToolInputError } from '#server/tools/tool.ts';
import { FORK_NOTICE } from './texts.ts';
import type { Agent } from '#server/agent/contract/agent.ts';
import type { AgentChange } from '#server/agent/contract/config.ts';
import type { Profile } from '#server/agent/contract/profile.ts';

/** Start options that a call requests. */
export interface WantedStart {
  fork?: boolean | undefined;
  /** An alias of the pool, or `primary`. */
  model?: string | undefined;
}

/** Start options that are available now. */
export interface StartOptions {
  readonly fork: boolean;
  /** Aliases and the user's hints for them; absent without a choice of models. */
  readonly models?: ReadonlyMap<string, string>;
}

/** An invalid pool offers no models; a call then fails with the reason. */
export function startOptions({ config }: Pick<SessionContext, 'config'>): StartOptions {
  const fork = config.resolveFlags().subagent_fork;
  try {
    const choices = subagentPool(config)?.choices;
    return choices ? { fork, models: choices } : { fork };
  } catch {
    return { fork };
  }
}

/** Whether both render to the same tool description. */
export const sameOptions = (one: StartOptions, other: StartOptions): boolean =>
  one.fork === other.fork && modelLines(one) === modelLines(other);

/** The parameters of a tool that starts subagents, as `WantedStart` has them. */
export const startParameters = {
  fork: z
    .boolean()
    .optional()
    .describe('It begins with a copy of this conversation and with your model. Not with resume.'),
  model: z
    .string()
    .min(1)
    .optional()
    .describe(`Which model it runs on: one that the description lists, or "${CALLERS_MODEL}" for yours.`),
};

type StartShape = z.ZodRawShape & typeof startParameters;

const narrowedSchemas = new WeakMap<z.ZodObject<StartShape>, Map<string, z.ZodObject>>();

/** The parameters that models receive, without those that have no use. Memoized: equal options give the same object. */
export function offeredParameters(parameters: z.ZodObject<StartShape>, { fork, models }: StartOptions): z.ZodObject {
  const known = narrowedSchemas.get(parameters) ?? new Map<string, z.ZodObject>();
  narrowedSchemas.set(parameters, known);
  const key = `${fork} ${models !== undefined}`;
  const made =
    known.get(key) ?? parameters.omit({ ...(fork ? {} : { fork: true }), ...(models ? {} : { model: true }) });
  known.set(key, made);
  return made;
}

/** The part of such a tool's description that lists the models; empty without a choice. */
export function modelLines({ models }: StartOptions): string {
  if (!models) return '';
  const lines = [...models].map(([alias, hint]) => (hint ? `- ${alias}: ${hint}` : `- ${alias}`));
  return ['Models, the first unless you say otherwise:', ...lines, `- ${CALLERS_MODEL}: the model you run on`].join(
    '\n',
  );
}

/** Model and effort of a new subagent of this agent. Throws `ToolInputError` for a model that it cannot have. */
export function startModel(
  { log, config }: Pick<SessionContext, 'log' | 'config'>,
  callerId: string,
  wanted: WantedStart,
): Pick<AgentChange, 'model' | 'thinking'> {
  const { model: own, thinkingEffort } = readContext(log.state.context, callerId).config;
  const callers = {
    ...(own === undefined ? {} : { model: own }),
    ...(thinkingEffort === undefined ? {} : { thinking: thinkingEffort }),
  };
  if (wanted.fork) return callers;
  const pool = usablePool(config);
  if (pool && !pool.choices) return { model: pool.defaultModel };
  const alias = wanted.model ?? pool?.defaultModel ?? CALLERS_MODEL;
  if (alias === CALLERS_MODEL) return callers;
  if (pool?.choices?.has(alias)) return { model: alias };
  const names = [...(pool?.choices?.keys() ?? []), CALLERS_MODEL].join(', ');
  throw new ToolInputError(`Subagents cannot run on the model "${alias}". There are: ${names}.`);
}

function usablePool(config: SessionContext['config']): SubagentPool | undefined {
  try {
    return subagentPool(config);
  } catch (error) {
    throw new ToolInputError(`The models for subagents are not configured properly: ${errorMessage(error)}`);
  }
}

/**
 * Binds a new agent to its profile, its model and, with `fork`, a copy of its caller's present conversation. Every
 * subagent starts by this function. Throws `ToolInputError` like `startModel`.
 */
export async function bindSubagent(
  { log, config }: Pick<SessionContext, 'log' | 'config'>,
  child: Agent,
  { profile, callerId, wanted }: { profile: Profile; callerId: string; wanted: WantedStart },
): Promise<void> {
  await child.context.config.change({ profile, ...startModel({ log, config }, callerId, wanted) });
  if (wanted.fork) log.append([copiedHistory(log.state, child.id, callerId, [reminder('fork', FORK_NOTICE)])]);
}
