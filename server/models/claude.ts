/** Thinking defaults inferred from the wire name of a Claude model. */
import type { ModelRecord } from '#schema/rest/model.ts';
import { claudeVersion, isClaude } from './protocols/claude-names.ts';

interface Row {
  efforts: string[];
  canSwitchOff: boolean;
}

const BUDGET = ['low', 'medium', 'high'];
const ADAPTIVE = ['low', 'medium', 'high', 'max'];
const NEWEST = ['low', 'medium', 'high', 'xhigh', 'max'];

/** Version numbers: 4.5 is 405. */
function rowOf(wireName: string): Row | undefined {
  if (/mythos-preview/i.test(wireName)) return { efforts: ADAPTIVE, canSwitchOff: false };
  const version = claudeVersion(wireName);
  if (!version) return undefined;
  const { family, number } = version;
  if (family === 'fable' || family === 'mythos') {
    return number >= 500 ? { efforts: NEWEST, canSwitchOff: false } : undefined;
  }
  if (number <= 405) return { efforts: BUDGET, canSwitchOff: true };
  if (family === 'sonnet') return { efforts: number < 500 ? ADAPTIVE : NEWEST, canSwitchOff: true };
  if (family === 'opus' && number < 500) return { efforts: number === 406 ? ADAPTIVE : NEWEST, canSwitchOff: true };
  return undefined;
}

/**
 * Returns the record with thinking, efforts and default effort filled in from its name. A Claude name without a known
 * version is treated as the newest one, depending on `protocol` and `providerType`.
 */
export function inferClaude(
  record: ModelRecord,
  wireName: string,
  protocol: string,
  providerType: string,
): ModelRecord {
  const other: Row = { efforts: NEWEST, canSwitchOff: true };
  const counts = isClaude(wireName) && protocol === 'anthropic' && providerType !== 'native';
  const row = rowOf(wireName) ?? (counts ? other : undefined);
  if (!row) return record;
  const declared = record.capabilities ?? [];
  const word = row.canSwitchOff ? 'thinking' : 'always_thinking';
  const present = declared.some((name) => name.trim().toLowerCase() === word);
  const efforts = record.supportEfforts ?? (record.adaptiveThinking === false ? BUDGET : row.efforts);
  const defaultEffort = record.defaultEffort ?? (efforts.includes('high') ? 'high' : undefined);
  return {
    ...record,
    capabilities: present ? declared : [...declared, word],
    supportEfforts: efforts,
    ...(defaultEffort !== undefined && { defaultEffort }),
  };
}
