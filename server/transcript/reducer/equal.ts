/** Deep equality of plain values; an undefined member is treated as absent. */
export function sameValue(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (!isObject(one) || !isObject(other) || Array.isArray(one) !== Array.isArray(other)) return false;
  return holdsAll(one, other) && holdsAll(other, one, false);
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/** Whether `one` has all members of `other`; also compares their values if `compare` is set. */
function holdsAll(one: Record<string, unknown>, other: Record<string, unknown>, compare = true): boolean {
  for (const key in other) {
    const value = other[key];
    if (value === undefined) continue;
    if (compare ? !sameValue(one[key], value) : one[key] === undefined) return false;
  }
  return true;
}
