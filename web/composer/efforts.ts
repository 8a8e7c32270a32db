/** The efforts that a model offers. */
import type { Model } from '@service-code/client';

/** In rising order; empty for a model that does not think. */
export function effortsOf({
  capabilities = [],
  support_efforts = [],
}: Pick<Model, 'capabilities' | 'support_efforts'>): string[] {
  const thinks = capabilities.includes('thinking') || capabilities.includes('always_thinking');
  if (!thinks && support_efforts.length === 0) return [];
  const named = support_efforts.filter((effort) => effort !== 'off');
  const on = named.length > 0 ? named : ['on'];
  if (capabilities.includes('always_thinking')) return named.length > 1 ? named : [];
  return ['off', ...on];
}
