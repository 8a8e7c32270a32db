/** Looking into JSON whose shape is not known. */

/** Whether the value is an object: no array, not null. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value when it is an object, so that a member can be asked for with `?.`. */
export const asRecord = (value: unknown): Record<string, unknown> | undefined => (isRecord(value) ? value : undefined);
