import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BLOB_THRESHOLD_BYTES, createBlobStore } from '#server/journal/blobs.ts';
import { temporaryFolder } from '#support/session-logs.ts';

describe('blobs', () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => ({ path: dir, remove } = await temporaryFolder()));
  afterEach(() => remove());

  const files = () => readdir(join(dir, 'blobs')).catch(() => []);
  /** Through the file and back, by a store that has nothing in memory. */
  const roundTrip = (value: unknown) => createBlobStore(dir).decode(createBlobStore(dir).encode(value));

  it.each([
    ['one byte over', 'x'.repeat(BLOB_THRESHOLD_BYTES + 1), 1],
    ['exactly the limit', 'x'.repeat(BLOB_THRESHOLD_BYTES), 0],
    ['two-byte characters, over', 'é'.repeat(BLOB_THRESHOLD_BYTES / 2 + 1), 1],
    ['two-byte characters, exactly', 'é'.repeat(BLOB_THRESHOLD_BYTES / 2), 0],
    ['surrogate pairs', '🚀'.repeat(BLOB_THRESHOLD_BYTES / 4 + 1), 1],
    ['a lone surrogate, which no file could hold', `${'x'.repeat(BLOB_THRESHOLD_BYTES)}\ud800`, 0],
  ])('a string: %s', async (_name, text, count) => {
    const value = { list: [text, { deep: text }], text };
    expect(roundTrip(value)).toEqual(value);
    expect(await files()).toHaveLength(count);
  });

  it.each(['$blob', '$$blob', '$$$blob'])('an own key named %s', (key) => {
    const hash = '0'.repeat(64);
    const value = { args: { [key]: hash, other: { [key]: { [key]: 'x'.repeat(20_000) } } } };
    expect(roundTrip(value)).toEqual(value);
  });

  it('keeps own keys that mean something to objects', () => {
    const value: unknown = JSON.parse(`{"a":{"__proto__":{"x":"${'y'.repeat(20_000)}"},"$blob":1}}`);
    expect(JSON.stringify(roundTrip(value))).toBe(JSON.stringify(value));
  });

  it('writes a text once, however often it is named', async () => {
    const store = createBlobStore(dir);
    const text = 'z'.repeat(50_000);
    for (let line = 0; line < 3; line += 1) store.encode({ a: text, b: { c: text } });
    expect(await files()).toHaveLength(1);
  });

  it('reads a lost file as a placeholder, touched or loaded', async () => {
    const store = createBlobStore(dir);
    const line = store.encode({ text: 'q'.repeat(20_000) });
    const [hash] = await files();
    await rm(join(dir, 'blobs', String(hash)));
    const other = createBlobStore(dir);
    const expected = { text: `[content lost: ${hash}]` };
    expect(other.decode(line)).toEqual(expected);
    expect(await other.load(other.decode(line))).toEqual(expected);
  });

  it('loads plain copies', async () => {
    const value = { list: [{ text: 'q'.repeat(20_000) }] };
    const store = createBlobStore(dir);
    const loaded = await store.load(store.decode(store.encode(value)));
    await rm(join(dir, 'blobs'), { recursive: true });
    expect(loaded).toEqual(value);
  });
});
