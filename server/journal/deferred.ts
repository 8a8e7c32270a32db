/**
 * Long texts of a journal stay in their blob files until somebody looks at them: the property of a decoded record is an
 * accessor that reads the file. Folds pass such a property on with `derive` and never touch its value, so a loaded
 * session holds no blob in memory. `BlobStore.load` reads all blobs below a value without blocking.
 */

/** Per object, the blob behind each deferred property. */
const hashesByKey = new WeakMap<object, Map<PropertyKey, string>>();

/** Makes `target[key]` an accessor for something kept in the blob `hash`. */
export function defer(target: object, key: PropertyKey, hash: string, read: () => unknown): void {
  Object.defineProperty(target, key, { get: read, enumerable: true, configurable: true });
  const own = hashesByKey.get(target);
  if (own) own.set(key, hash);
  else hashesByKey.set(target, new Map([[key, hash]]));
}

/** Whether reading the property would read a blob; such a text is always longer than 16 384 bytes. */
export function isDeferred(target: object, key: PropertyKey): boolean {
  return hashesByKey.get(target)?.has(key) ?? false;
}

/** Sets `target[key] = make(source[from])`: at once, or when it is read in case the source is a blob. */
export function derive<S extends object, K extends keyof S & string>(
  target: object,
  key: string,
  source: S,
  from: K,
  make: (value: S[K]) => unknown = (value) => value,
): void {
  const behind = hashesByKey.get(source)?.get(from);
  if (behind) {
    defer(target, key, behind, () => make(source[from]));
    return;
  }
  hashesByKey.get(target)?.delete(key);
  Object.defineProperty(target, key, {
    value: make(source[from]),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** The hashes of all blobs that reading `value` deeply would read. */
export function hashesOf(value: unknown): Set<string> {
  const hashes = new Set<string>();
  collect(value, hashes);
  return hashes;
}

function collect(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const own = hashesByKey.get(value);
  for (const key of Object.keys(value)) {
    const behind = own?.get(key);
    if (behind) into.add(behind);
    else collect((value as Record<string, unknown>)[key], into);
  }
}
