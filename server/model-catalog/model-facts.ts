/** The facts of a model of the directory: whether it can be imported, its capabilities and its efforts. */
import type { DirectoryModel } from './directory-entry.ts';

const EMBEDDING = /embedding|(^|[-_/])embed($|[-_/])/i;

const isPositiveInteger = (value: number | undefined): value is number =>
  value !== undefined && Number.isSafeInteger(value) && value > 0;

/** The sizes of a model; undefined if its context is not known. */
export function sizesOf({ limit = {} }: DirectoryModel) {
  const { context, input, output } = limit;
  if (!isPositiveInteger(context)) return undefined;
  return {
    max_context_size: context,
    ...(isPositiveInteger(input) && { max_input_size: Math.min(input, context) }),
    ...(isPositiveInteger(output) && { max_output_size: output }),
  };
}

/** Whether a model answers with text and is offered at present. */
export function isChatModel({ id, name, family, status, modalities }: DirectoryModel): boolean {
  if (modalities?.output && !modalities.output.includes('text')) return false;
  if (status === 'deprecated' || status === 'alpha') return false;
  return ![family, id, name].some((text) => text !== undefined && EMBEDDING.test(text));
}

export interface Efforts {
  /** Levels of thinking without the one that turns it off. */
  levels: string[];
  /** The value that turns it off. */
  off?: string;
  /** Whether thinking can be switched without a level. */
  hasToggle: boolean;
}

export function effortsOf({ reasoning_options: options = [] }: DirectoryModel): Efforts {
  const values = options.findLast(({ type }) => type === 'effort')?.values ?? [];
  const canBeOff = values.some((value) => value === 'none' || value === null);
  return {
    levels: values.flatMap((value) => (value && value !== 'none' ? [value] : [])),
    ...(canBeOff && { off: 'none' }),
    hasToggle: options.some(({ type }) => type === 'toggle'),
  };
}

/** In the order of the wire. */
export function capabilitiesOf(model: DirectoryModel, { levels, hasToggle }: Efforts): string[] {
  const input = model.modalities?.input ?? [];
  return [
    ...(input.includes('image') ? ['image_in'] : []),
    ...(input.includes('video') ? ['video_in'] : []),
    ...(input.includes('audio') ? ['audio_in'] : []),
    ...(model.reasoning || levels.length > 0 || hasToggle ? ['thinking'] : []),
    ...(model.tool_call === false ? [] : ['tool_use']),
    ...(model.dynamically_loaded_tools ? ['dynamically_loaded_tools'] : []),
  ];
}

const isPrice = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** The prices in the spelling of the file; none unless both main prices are valid. */
export function pricesOf({ cost }: DirectoryModel): { cost?: Record<string, number> } {
  if (!cost || !isPrice(cost.input) || !isPrice(cost.output)) return {};
  const { input, output, cache_read, cache_write } = cost;
  return {
    cost: { input, output, ...(isPrice(cache_read) && { cache_read }), ...(isPrice(cache_write) && { cache_write }) },
  };
}
