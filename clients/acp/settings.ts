/** Permission mode, model and effort of a session, as modes and as options. */
import type { SessionConfigOption, SessionModeState } from '@agentclientprotocol/sdk';
import type { AgentConfigRequest, Model, PermissionMode, SessionStatus, TranscriptMeta } from '@service-code/client';
import { invalid } from './errors.ts';

export interface Settings {
  permission: PermissionMode;
  planMode: boolean;
  model: string | undefined;
  /** Undefined for a session that has not used a model, which starts with the effort of its model. */
  effort: string | undefined;
}

const MODES = [
  { id: 'manual', name: 'Manual', description: 'Asks before commands, and before changes outside the project' },
  { id: 'auto', name: 'Auto', description: 'Runs everything without asking, questions included' },
  {
    id: 'yolo',
    name: 'Yolo',
    description: 'Runs everything without asking, except for sensitive files and your own rules',
  },
  {
    id: 'plan',
    name: 'Plan',
    description: 'Plans without changing files; the plan is reviewed before it is carried out',
  },
] as const;
const MODE = 'mode';
const MODEL = 'model';
const EFFORT = 'thought_level';

/** The settings of a session; `defaultModel` is used by one without a model. */
export const settingsOf = (status: SessionStatus, defaultModel: string | undefined): Settings => ({
  permission: status.permission,
  planMode: status.plan_mode,
  model: status.model ?? defaultModel,
  effort: status.thinking_level || undefined,
});

/** The settings that a transcript has; undefined for members that it has not. */
export function settingsOfMeta({ agent, modes }: TranscriptMeta): Partial<Settings> {
  if (!agent) return {};
  const { permission, model, thinkingEffort } = agent;
  return {
    planMode: modes?.plan !== undefined,
    ...(permission !== undefined && { permission }),
    ...(model !== undefined && { model }),
    ...(thinkingEffort !== undefined && { effort: thinkingEffort }),
  };
}

export const modeOf = ({ permission, planMode }: Settings): string => (planMode ? 'plan' : permission);

export const modesOf = (settings: Settings): SessionModeState => ({
  currentModeId: modeOf(settings),
  availableModes: MODES.map((mode) => ({ ...mode })),
});

export function optionsOf(settings: Settings, models: readonly Model[]): SessionConfigOption[] {
  const modes = MODES.map(({ id, name, description }) => ({ value: id, name, description }));
  const options = [select(MODE, 'Mode', modeOf(settings), modes)];
  const { model } = settings;
  if (model === undefined) return options;
  const names = models.map((one) => ({ value: one.model, name: one.display_name }));
  options.push(select(MODEL, 'Model', model, withValue(names, model)));
  const used = models.find((one) => one.model === model);
  const efforts = used ? effortsOf(used).map((value) => ({ value, name: value })) : [];
  const { effort = used && initialEffort(used) } = settings;
  if (effort !== undefined && efforts.length > 0)
    options.push(select(EFFORT, 'Effort', effort, withValue(efforts, effort)));
  return options;
}

type Choice = { value: string; name: string; description?: string };

/** The id of an option is its category. */
const select = (id: string, name: string, currentValue: string, options: Choice[]): SessionConfigOption => ({
  type: 'select',
  id,
  category: id,
  name,
  currentValue,
  options,
});

/** An editor expects the present value to be offered. */
const withValue = (options: Choice[], value: string): Choice[] =>
  options.some((one) => one.value === value) ? options : [{ value, name: value }, ...options];

/** In rising order; empty for a model that does not think. */
function effortsOf({ capabilities = [], support_efforts = [] }: Model): string[] {
  const always = capabilities.includes('always_thinking');
  if (!always && !capabilities.includes('thinking') && support_efforts.length === 0) return [];
  const named = support_efforts.filter((effort) => effort !== 'off');
  if (always) return named.length > 1 ? named : [];
  return ['off', ...(named.length > 0 ? named : ['on'])];
}

/** The effort of a model for which none was selected. */
function initialEffort(model: Model): string {
  const { support_efforts: efforts = [], default_effort } = model;
  if (default_effort !== undefined && efforts.includes(default_effort)) return default_effort;
  return efforts[Math.floor(efforts.length / 2)] ?? effortsOf(model).at(-1) ?? 'off';
}

/** The change that selects a mode; throws for one that does not exist. */
export function modeChange(id: string, member: string): AgentConfigRequest {
  const mode = MODES.find((one) => one.id === id);
  if (!mode) throw invalid(member, `there is no mode ${id}`);
  return mode.id === 'plan' ? { plan_mode: true } : { permission_mode: mode.id, plan_mode: false };
}

/** The change of an option; throws if it is not among `options`, with this value. */
export function optionChange(options: readonly SessionConfigOption[], id: string, value: unknown): AgentConfigRequest {
  const option = options.find((one) => one.id === id);
  if (option?.type !== 'select') throw invalid('configId', `there is no option ${id}`);
  const values = option.options.flatMap((one) =>
    'value' in one ? [one.value] : one.options.map((inner) => inner.value),
  );
  const chosen = values.find((one) => one === value);
  if (chosen === undefined) throw invalid('value', `the option ${id} has no such value`);
  if (id === MODE) return modeChange(chosen, 'value');
  return id === MODEL ? { model: chosen } : { thinking: chosen };
}
