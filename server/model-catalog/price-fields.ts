/** Prices of models in documents from outside. */
import { asRecord } from '#server/text/json.ts';

/** USD per million tokens, in the spelling of the file. */
export interface CostFields {
  input: number;
  output: number;
  cache_read?: number;
  cache_write?: number;
}

const isPrice = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

/** Returns the prices; undefined if one of them is malformed. */
export function costFields(cost: unknown): CostFields | undefined {
  const { input, output, cache_read: read, cache_write: write } = asRecord(cost) ?? {};
  if (!isPrice(input) || !isPrice(output)) return undefined;
  if ((read !== undefined && !isPrice(read)) || (write !== undefined && !isPrice(write))) return undefined;
  return {
    input,
    output,
    ...(read !== undefined && { cache_read: read }),
    ...(write !== undefined && { cache_write: write }),
  };
}
