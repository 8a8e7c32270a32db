import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import memory from 'unstorage/drivers/memory';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
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

  it('stands on any driver', async () => {
    const documents = createDocuments({ home: '/nowhere', driver: memory() });
    await documents.set('a.json', schema, { name: 'x', size: 2 });
    expect(await documents.get('a.json', schema)).toEqual({ name: 'x', size: 2 });
    expect(await documents.version('a.json')).toBeUndefined();
    await documents.close();
  });

  it('says which document is damaged instead of taking it for an empty one', async () => {
    const home = await temporaryHome();
    const documents = createDocuments({ home });
    for (const text of ['{"name": ', '{"name": 3}', 'null']) {
      await writeFile(join(home, 'a.json'), text);
      const outcome = documents.get('a.json', schema);
      if (text === 'null') expect(await outcome).toBeUndefined();
      else
        await expect(outcome).rejects.toMatchObject({
          code: 50003,
          message: expect.stringContaining('document a.json'),
        });
    }
  });

  it('tells when another process wrote', async () => {
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
});
