/** Recovery from a request that the provider refused for its shape: it is sent again, smaller or stricter. */
import type { RequestShape } from '#server/models/request-history.ts';
import type { ModelError } from '#server/models/types.ts';

/** Makes the turn's next requests smaller or stricter. Returns false if no degradation is left. */
export function degrade(
  shape: RequestShape,
  recovery: NonNullable<ModelError['details']['recovery']>,
  historyLength: number,
): boolean {
  if (recovery === 'structure') {
    if (shape.strict) return false;
    shape.strict = true;
    return true;
  }
  if (shape.media === 'stripped') return false;
  shape.media = recovery === 'request_too_large' && shape.media !== 'degraded' ? 'degraded' : 'stripped';
  // Media that enter the conversation later are sent unmodified.
  shape.mediaCut = historyLength;
  return true;
}

/** Name of the shape in `step.response`; undefined for the normal one. */
export function shapeName(shape: RequestShape): string | undefined {
  const parts = [...(shape.strict ? ['strict'] : []), ...(shape.media ? [`media-${shape.media}`] : [])];
  return parts.length > 0 ? parts.join('-') : undefined;
}
