import { createHash } from 'node:crypto';
import nodeFs from 'node:fs';
import { readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { createBlobStore } from '#server/journal/blobs.ts';
import { createJournalFiles } from '#server/journal/journal-files.ts';
import { createTextCache } from '#server/journal/text-cache.ts';
import { BlobText, LONG_TEXT_BYTES } from '#server/journal/texts.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const files = () => readdir(join(folder.path, 'blobs')).catch(() => []);
const fileOf = (hash: unknown) => join(folder.path, 'blobs', String(hash));
/** A long text that no earlier test has read. */
const fresh = (length: number) => `${folder.path} ${'q'.repeat(length)}`;
const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Encodes to files and decodes with a store that has no text in memory. */
async function roundTrip(value: unknown): Promise<unknown> {
  const store = createBlobStore(folder.path);
  return store.load(await store.decode(createBlobStore(folder.path).encode(value)));
}

describe('blobs', () => {
  it.each([
    ['one byte over', 'x'.repeat(LONG_TEXT_BYTES + 1), 1],
    ['exactly the limit', 'x'.repeat(LONG_TEXT_BYTES), 0],
    ['two-byte characters, over', 'é'.repeat(LONG_TEXT_BYTES / 2 + 1), 1],
    ['two-byte characters, exactly', 'é'.repeat(LONG_TEXT_BYTES / 2), 0],
    ['surrogate pairs', '🚀'.repeat(LONG_TEXT_BYTES / 4 + 1), 1],
    ['a lone surrogate, which no file could hold', `${'x'.repeat(LONG_TEXT_BYTES)}\ud800`, 0],
  ])('a string: %s', async (_name, text, count) => {
    const value = { list: [text, { deep: text }], text, args: { list: [text] } };
    expect(await roundTrip(value)).toEqual(value);
    expect(await files()).toHaveLength(count);
  });

  it.each(['$blob', '$$blob', '$$$blob'])('an own key named %s', async (key) => {
    const hash = '0'.repeat(64);
    const value = { args: { [key]: hash, bytes: 3, other: { [key]: { [key]: 'x'.repeat(20_000) } } } };
    expect(await roundTrip(value)).toEqual(value);
  });

  it('preserves an object that looks like a text, and keys with a meaning for objects', async () => {
    const value: unknown = JSON.parse(
      `{"args":{"__proto__":{"x":"${'y'.repeat(20_000)}"},"$blob":1,"like":{"blob":"${'0'.repeat(64)}","bytes":9}}}`,
    );
    expect(JSON.stringify(await roundTrip(value))).toBe(JSON.stringify(value));
  });

  it('writes hash and length to the line, and decodes to a text only in members that folds treat as texts', async () => {
    const text = fresh(20_000);
    const blob = { $blob: hashOf(text), bytes: Buffer.byteLength(text) };
    const store = createBlobStore(folder.path);
    const line = store.encode({ text, name: text });
    expect(JSON.parse(line)).toEqual({ text: blob, name: blob });
    const decoded = { text: new BlobText(blob.$blob, blob.bytes), name: text };
    expect(await createBlobStore(folder.path).decode(line)).toEqual(decoded);
    expect(store.decodeEncoded(line)).toEqual(decoded);
  });

  it('reads the length of an old reference from the file', async () => {
    const text = fresh(20_000);
    const hash = hashOf(text);
    createBlobStore(folder.path).encode({ text });
    const decoded = await createBlobStore(folder.path).decode(JSON.stringify({ text: { $blob: hash } }));
    expect(decoded).toEqual({ text: new BlobText(hash, Buffer.byteLength(text)) });
  });

  it('writes a text a single time, however often it is referenced', async () => {
    const store = createBlobStore(folder.path);
    const text = 'z'.repeat(50_000);
    for (let line = 0; line < 3; line += 1) store.encode({ a: text, b: { c: text } });
    await store.store({ text });
    expect(await files()).toHaveLength(1);
  });

  it.each([
    ['lost', (path: string) => rm(path)],
    ['cut off', (path: string) => truncate(path, 5)],
    ['changed', (path: string) => writeFile(path, 'r'.repeat(20_000))],
  ])('reads a file that is %s as a placeholder', async (_name, spoil) => {
    const text = fresh(20_000);
    const line = createBlobStore(folder.path).encode({ text, name: text });
    await spoil(fileOf(hashOf(text)));
    const store = createBlobStore(folder.path);
    const placeholder = `[content lost: ${hashOf(text)}]`;
    expect(await store.load(await store.decode(line))).toEqual({ text: placeholder, name: placeholder });
  });

  it.each([
    ['at an append', (text: string) => createBlobStore(folder.path).encode({ text })],
    ['beforehand', (text: string) => createBlobStore(folder.path).store({ text })],
  ])('rewrites a file of the wrong size, stored %s', async (_name, store) => {
    const text = fresh(20_000);
    await store(text);
    await truncate(fileOf(hashOf(text)), 0);
    await store(text);
    expect(await readFile(fileOf(hashOf(text)), 'utf8')).toBe(text);
    expect(await files()).toHaveLength(1);
  });

  it('does not copy objects without texts', async () => {
    const store = createBlobStore(folder.path);
    const value = { short: { text: 'a' }, list: [{ text: await store.store(fresh(20_000)) }] };
    const loaded = await store.load(value);
    expect(loaded).not.toBe(value);
    expect(loaded.short).toBe(value.short);
    expect(await store.store(loaded.short)).toBe(value.short);
  });
});

it('stores a text in a file of its own, however short it is', async () => {
  const store = createBlobStore(folder.path);
  for (const text of ['', 'a plan é', fresh(20_000)]) {
    const { blob, bytes } = await store.keep(text);
    expect(bytes).toBe(Buffer.byteLength(text));
    expect(await readFile(join(folder.path, 'blobs', blob), 'utf8')).toBe(text);
  }
});

describe('storing beforehand', () => {
  it('replaces only long texts, and only in members that folds treat as texts', async () => {
    const text = fresh(20_000);
    const blob = new BlobText(hashOf(text), Buffer.byteLength(text));
    const store = createBlobStore(folder.path);
    const stored = await store.store({
      text,
      note: null,
      name: text,
      list: [text, 1],
      args: [text, null, true],
      url: blob,
    });
    expect(stored).toEqual({
      text: blob,
      note: null,
      name: text,
      list: [text, 1],
      args: [blob, null, true],
      url: blob,
    });
    expect(Array.isArray(stored.args)).toBe(true);
    expect(await roundTrip({ text, nothing: null, list: [null] })).toEqual({ text, nothing: null, list: [null] });
  });

  it('does not block, for a text of any size', async () => {
    const text = fresh(4 * 1024 * 1024);
    const blocking = () => {
      throw new Error('blocks');
    };
    const files = createJournalFiles({
      ...nodeFs,
      statSync: Object.assign(blocking, { bigint: blocking }),
      mkdirSync: blocking,
      writeFileSync: blocking,
      renameSync: blocking,
    });
    const read = vi.spyOn(nodeFs, 'readFileSync');
    const store = createBlobStore(folder.path, files);
    const stored = await store.store({ text, args: { content: [text] }, name: 'n' });
    expect(stored.text).toEqual(new BlobText(hashOf(text), Buffer.byteLength(text)));
    const line = store.encode(stored);
    expect(line.length).toBeLessThan(1000);
    expect(store.encoded(store.decodeEncoded(line))).toEqual({ text, args: { content: [text] }, name: 'n' });
    const other = createBlobStore(folder.path, files);
    expect(await other.load(await other.decode(line))).toEqual({ text, args: { content: [text] }, name: 'n' });
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  it.each([
    ['EMFILE', 'rejects'],
    ['ENFILE', 'rejects'],
    ['EIO', 'resolves'],
  ] as const)('after %s a text that may exist is not reported as lost: the read %s', async (code, outcome) => {
    const text = fresh(20_000);
    const line = createBlobStore(folder.path).encode({ text });
    const readFile = () => Promise.reject(Object.assign(new Error(code), { code }));
    const promises = { ...nodeFs.promises, readFile };
    const store = createBlobStore(folder.path, createJournalFiles({ ...nodeFs, promises }));
    const loading = store.decode(line).then((value) => store.load(value));
    if (outcome === 'rejects') await expect(loading).rejects.toThrow(code);
    else expect(await loading).toEqual({ text: `[content lost: ${hashOf(text)}]` });
  });

  it('leaves no partial file when the disk is full', async () => {
    const promises = { ...nodeFs.promises, rename: () => Promise.reject(new Error('ENOSPC')) };
    const store = createBlobStore(folder.path, createJournalFiles({ ...nodeFs, promises }));
    await expect(store.store(fresh(20_000))).rejects.toThrow('ENOSPC');
    expect(await files()).toEqual([]);
  });
});

describe('the cache of texts', () => {
  it('retains the most recently used texts, within its limit', () => {
    const cache = createTextCache(10, 8);
    cache.put('a', 'aaaa');
    cache.put('b', 'bbbb');
    expect(cache.get('a')).toBe('aaaa');
    cache.put('c', 'cccc');
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual(['aaaa', undefined, 'cccc']);
    cache.put('d', 'd'.repeat(9));
    expect(cache.get('d')).toBeUndefined();
  });
});
