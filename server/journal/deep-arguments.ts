/**
 * Arguments of calls that older builds parsed and stored at any depth. Code that walks or writes them recurses, so they
 * are replaced by their JSON text, which is what records of later calls contain.
 */
import { isRecord, MAX_JSON_LEVELS } from '#server/text/json.ts';
import { BlobText } from './texts.ts';

const argumentMembers = ['args', 'toolInput'] as const;
/** A display of the kind `generic` has the arguments in its `detail`. */
const displayMembers = ['display', 'tool_input_display'] as const;

function nestsDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null || value instanceof BlobText) return false;
  return levels === 0 || Object.values(value).some((member) => nestsDeeper(member, levels - 1));
}

function flatten(holder: Record<string, unknown>, key: string): void {
  if (nestsDeeper(holder[key], MAX_JSON_LEVELS)) holder[key] = JSON.stringify(holder[key]);
}

/** Replaces arguments in a record that nest deeper than `MAX_JSON_LEVELS` by their JSON text. */
export function flattenDeepArguments(record: object): void {
  if (!isRecord(record)) return;
  for (const key of argumentMembers) if (key in record) flatten(record, key);
  for (const key of displayMembers) {
    const display = record[key];
    if (isRecord(display)) flatten(display, 'detail');
  }
}
