import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Driver } from 'unstorage';
import memory from 'unstorage/drivers/memory';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { createDocuments } from '#server/storage/documents.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const schema = z.object({ name: z.string(), size: z.number().default(0) });

describe('documents', () => {
  it('writes readable JSON and reads it through its schema', async () => {
    const home = await temporaryHome();
    const documents = createDocuments({ home });
    expect(await documents.get('a.json', schema)).toBeUndefined();
    await documents.set('a.json', schema, { name: 'x' });
    expect(await readFile(join(home, 'a.json'), 'utf8')).toBe('{\n  "name": "x",\n  "size": 0\n}\n');
    expect(await createDocuments({ home }).get('a.json', schema)).toEqual({ name: 'x', size: 0 });
  });

  it('works on any driver', async () => {
    const documents = createDocuments({ home: '/nowhere', drivers: { home: memory() } });
    await documents.set('a.json', schema, { name: 'x', size: 2 });
    expect(await documents.get('a.json', schema)).toEqual({ name: 'x', size: 2 });
    expect(await documents.version('a.json')).toBeUndefined();
    await documents.close();
  });

  it('reads text of drivers that return bytes, and treats undefined as no document', async () => {
    const values = new Map([['a', Buffer.from('grün')]]);
    const driver: Driver = { ...memory(), getItemRaw: (key) => values.get(key) };
    const documents = createDocuments({ home: '/nowhere', drivers: { home: driver } });
    expect(await documents.getText('a')).toBe('grün');
    expect(await documents.getText('b')).toBeUndefined();
    expect(await documents.get('b', schema)).toBeUndefined();
  });

  it('reads the version only from the driver, and only if it is a text', async () => {
    const named = createDocuments({ home: await temporaryHome() });
    // The key under which unstorage stores metadata of a document.
    await named.setText('a.json$', '{"version":"written by somebody"}');
    expect(await named.version('a.json')).toBeUndefined();
    const driver: Driver = { ...memory(), getMeta: () => ({ version: 3 }) };
    const numbered = createDocuments({ home: '/nowhere', drivers: { home: driver } });
    await numbered.setText('a.json', '1');
    expect(await numbered.version('a.json')).toBeUndefined();
  });

  it('names what the driver rejected, with its error as the cause', async () => {
    const refusal = new Error('the store is away');
    const refuse = () => Promise.reject(refusal);
    const driver: Driver = {
      name: 'refusing',
      hasItem: refuse,
      getItem: refuse,
      setItem: refuse,
      removeItem: refuse,
      getKeys: refuse,
      getMeta: refuse,
    };
    const documents = createDocuments({ home: '/nowhere', drivers: { home: driver } });
    const refused = {
      read: [documents.get('a', schema), documents.getText('a'), documents.version('a')],
      written: [documents.set('a', schema, { name: 'x' }), documents.setText('a', 'x')],
      removed: [documents.remove('a')],
      listed: [documents.keys('a')],
    };
    for (const [action, attempts] of Object.entries(refused)) {
      for (const attempt of attempts) {
        await expect(attempt).rejects.toMatchObject({
          code: 50003,
          message: `document a cannot be ${action}: the store is away`,
          cause: refusal,
        });
      }
    }
  });

  it('names a damaged document instead of treating it as empty', async () => {
    const home = await temporaryHome();
    const documents = createDocuments({ home });
    for (const text of ['{"name": ', '{"name": 3}', 'null', '']) {
      await writeFile(join(home, 'a.json'), text);
      await expect(documents.get('a.json', schema)).rejects.toMatchObject({
        code: 50003,
        message: expect.stringContaining('document a.json'),
      });
    }
  });

  it('has another version after a write of another process', async () => {
    const home = await temporaryHome();
    const [ours, theirs] = [createDocuments({ home }), createDocuments({ home })];
    expect(await ours.version('a.json')).toBeUndefined();
    await ours.set('a.json', schema, { name: 'x' });
    const version = await ours.version('a.json');
    expect(await ours.version('a.json')).toBe(version);
    await theirs.set('a.json', schema, { name: 'x' });
    expect(await ours.version('a.json')).not.toBe(version);
  });

  it('passes a failed write on', async () => {
    const home = await temporaryHome();
    await writeFile(join(home, 'dir'), '');
    await expect(createDocuments({ home }).set('dir:a.json', schema, { name: 'x' })).rejects.toMatchObject({
      code: 50003,
    });
  });

  it('returns texts verbatim, including those that look like values', async () => {
    const documents = createDocuments({ home: await temporaryHome() });
    for (const text of ['12', 'null', '"x"', ' a\n']) {
      await documents.setText('id', text);
      expect(await documents.getText('id')).toBe(text);
    }
    expect(await documents.getText('other')).toBeUndefined();
  });

  it('lists by prefix and removes', async () => {
    const documents = createDocuments({ home: await temporaryHome() });
    for (const key of ['credentials:a.json', 'credentials:b.json', 'x.json']) await documents.setText(key, '1');
    expect((await documents.keys('credentials')).sort()).toEqual(['credentials:a.json', 'credentials:b.json']);
    await documents.remove('credentials:a.json');
    await documents.remove('credentials:a.json');
    expect(await documents.keys('credentials')).toEqual(['credentials:b.json']);
    expect(await documents.getText('x.json')).toBe('1');
  });

  it('has a separate driver for each mount', async () => {
    const home = await temporaryHome();
    const documents = createDocuments({ home, drivers: { credentials: memory() } });
    await documents.setText('credentials:a.json', 'secret');
    await documents.setText('x.json', '1');
    expect(await documents.getText('credentials:a.json')).toBe('secret');
    expect(await readdir(home)).toEqual(['x.json']);
  });

  it('rejects keys that would be normalized to others', async () => {
    const documents = createDocuments({ home: await temporaryHome() });
    await documents.setText('a', '1');
    for (const key of ['a?b', '/a', 'a:', 'b\\c', 'a:..:b']) {
      await expect(documents.getText(key)).rejects.toMatchObject({ code: 50003 });
      await expect(documents.setText(key, '2')).rejects.toMatchObject({ code: 50003 });
    }
    expect(await documents.getText('a')).toBe('1');
  });

  it('releases its drivers when it is closed', async () => {
    let disposed = 0;
    const driver = { ...memory(), dispose: () => void (disposed += 1) };
    const documents = createDocuments({ home: await temporaryHome(), drivers: { credentials: driver } });
    await documents.close();
    expect(disposed).toBe(1);
  });
});
