/**
 * Long texts of a journal stay in their blob files until somebody looks at them: the property of a decoded record is an
 * accessor that reads the file. Folds pass such a property on with `derive` and never touch its value, so a loaded
 * session holds no blob in memory. `BlobStore.load` reads all blobs below a value without blocking.
 */

interface Deferred {
  hash: string;
  read(): unknown;
}

const deferredOf = new WeakMap<object, Map<PropertyKey, Deferred>>();

/** Makes `target[key]` an accessor for something kept in the blob `hash`. */
export function defer(target: object, key: PropertyKey, hash: string, read: () => unknown): void {
  Object.defineProperty(target, key, { get: read, enumerable: true, configurable: true });
  const own = deferredOf.get(target);
  if (own) own.set(key, { hash, read });
  else deferredOf.set(target, new Map([[key, { hash, read }]]));
}

/** Whether reading the property would read a blob; such a text is always longer than 16 384 bytes. */
export function isDeferred(target: object, key: PropertyKey): boolean {
  return deferredOf.get(target)?.has(key) ?? false;
}

/** Sets `target[key] = make(source[from])`: at once, or when it is read in case the source is a blob. */
export function derive<S extends object, K extends keyof S & string>(
  target: object,
  key: string,
  source: S,
  from: K,
  make: (value: S[K]) => unknown = (value) => value,
): void {
  const behind = deferredOf.get(source)?.get(from);
  if (behind) {
    defer(target, key, behind.hash, () => make(source[from]));
    return;
  }
  deferredOf.get(target)?.delete(key);
  Object.defineProperty(target, key, {
    value: make(source[from]),
    enumerable: true,
    configurable: true,
    writable: true,
  });
}

/** Adds the hashes of all blobs that reading `value` deeply would read. */
export function collectHashes(value: unknown, into: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  const own = deferredOf.get(value);
  for (const key of Object.keys(value)) {
    const behind = own?.get(key);
    if (behind) into.add(behind.hash);
    else collectHashes((value as Record<string, unknown>)[key], into);
  }
}
