/** The price of the tokens that an agent has used. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { TokenUsage } from '#schema/engine.ts';
import type { Cost } from '#schema/rest/model.ts';
import { effectiveRecord, findModel } from './resolve.ts';

const TOKENS_OF_PRICE = 1_000_000;
const DECIMALS = 1_000_000;

/** Returns USD, rounded to 6 decimals; undefined without usage, and if a model has no price at present. */
export function costOf(byModel: Readonly<Record<string, TokenUsage>>, config: EffectiveConfig): number | undefined {
  let total: number | undefined;
  for (const [alias, usage] of Object.entries(byModel)) {
    const record = findModel(config, alias);
    const cost = record && effectiveRecord(record).cost;
    if (!cost) return undefined;
    total = (total ?? 0) + costOfModel(usage, cost);
  }
  return total === undefined ? undefined : Math.round(total * DECIMALS) / DECIMALS;
}

const costOfModel = (usage: TokenUsage, { input, output, cacheRead = input, cacheWrite = input }: Cost): number =>
  (usage.inputOther * input +
    usage.inputCacheRead * cacheRead +
    usage.inputCacheCreation * cacheWrite +
    usage.output * output) /
  TOKENS_OF_PRICE;
