/** Selects the thinking effort of a request, and how much of earlier thinking is sent along. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { ModelVariables } from '#server/config/environment-model.ts';
import { invalidField } from '#server/errors/service-error.ts';
import type { RequestSettings, ResolvedModel } from './types.ts';

type Thinking = EffectiveConfig['thinking'];

const NO_KEEP = new Set(['0', 'false', 'no', 'off', 'none', 'null']);

const spelled = (effort: string | undefined) => effort?.trim().toLowerCase() || undefined;

/** Only the service's own protocol validates efforts here; other vendors validate them on their side. */
const strict = (model: ResolvedModel) => model.providerType === 'native' && model.protocol === 'native';

const offered = (model: ResolvedModel, effort: string) =>
  effort === 'on' || effort === 'off' || model.supportEfforts.includes(effort);

/** The effort of a model without any preference. */
export function defaultEffort(model: ResolvedModel): string {
  const { supportEfforts: listed } = model;
  const own = spelled(model.defaultEffort);
  if (own !== undefined && listed.includes(own)) return own;
  return listed[Math.floor(listed.length / 2)] ?? (model.capabilities.has('thinking') ? 'on' : 'off');
}

/**
 * Resolves `off`, `on` or a named effort: the preference of the client or of the previous model, else the
 * configuration's, else the model's. An effort that the model does not offer is replaced by its default.
 */
export function resolveEffort(model: ResolvedModel, wanted: string | undefined, thinking: Thinking): string {
  if (!model.capabilities.has('thinking')) return 'off';
  const configured = spelled(thinking.effort);
  const wish = spelled(wanted) ?? (thinking.enabled === false ? 'off' : configured);
  const fit = (effort: string | undefined): string => {
    if (effort === undefined || (strict(model) && !offered(model, effort))) return defaultEffort(model);
    return effort === 'on' ? onEffort(model) : effort;
  };
  const effort = fit(wish);
  if (effort !== 'off' || !model.capabilities.has('always_thinking')) return effort;
  const other = configured === 'off' ? defaultEffort(model) : fit(configured);
  return other === 'off' ? 'on' : other;
}

function onEffort(model: ResolvedModel): string {
  return model.supportEfforts.length > 0 ? defaultEffort(model) : 'on';
}

/** Throws `validation.failed` on `field` when a request through the API names an effort that is not offered. */
export function assertEffort(model: ResolvedModel, effort: string, field = 'thinking'): void {
  const wish = spelled(effort);
  if (wish === undefined || !model.capabilities.has('thinking') || !strict(model) || offered(model, wish)) return;
  const list = ['off', ...(model.supportEfforts.length > 0 ? model.supportEfforts : ['on'])].join(', ');
  throw invalidField(
    field,
    `Thinking effort "${wish}" is not supported by model "${model.alias}". Supported efforts: ${list}`,
  );
}

/** The settings that a turn freezes in addition to its model: effort, preserved thinking, sampling. */
export function requestSettings(
  model: ResolvedModel,
  effort: string,
  thinking: Thinking,
  variables: ModelVariables,
): RequestSettings {
  const native = model.providerType === 'native';
  const keep = (variables.thinkingKeep ?? thinking.keep)?.trim() || 'all';
  const thinks = effort !== 'off';
  return {
    effort,
    ...(native && thinks && thinking.forcedEffort !== undefined && { forcedEffort: thinking.forcedEffort }),
    ...(thinks && !NO_KEEP.has(keep.toLowerCase()) && { keep }),
    ...(native && variables.temperature !== undefined && { temperature: variables.temperature }),
    ...(native && variables.topP !== undefined && { topP: variables.topP }),
  };
}
