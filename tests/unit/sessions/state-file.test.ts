import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStateFile, STATE_VERSION, type StateDocument } from '#server/sessions/state-file.ts';
import { temporaryFolder } from '#support/session-logs.ts';

describe('state.json', () => {
  let dir: string;
  let remove: () => Promise<void>;
  beforeEach(async () => ({ path: dir, remove } = await temporaryFolder()));
  afterEach(() => remove());

  const document = (title: string): StateDocument => ({
    id: 'session_S1',
    version: STATE_VERSION,
    title,
    createdAt: 1,
    updatedAt: 2,
    archived: false,
    cwd: '/p',
    agents: { main: { homedir: 'agents/main', type: 'main' } },
    laterMember: { kept: true },
  });

  it('keeps the last of many writes, whole, and members it does not know', async () => {
    const file = createStateFile(dir);
    expect(await file.read()).toBeUndefined();
    await Promise.all(Array.from({ length: 20 }, (_, index) => file.write(document(`title ${index}`))));
    expect(await createStateFile(dir).read()).toEqual(document('title 19'));
    expect(await readdir(dir)).toEqual(['state.json']);
  });

  it('is written after a write that failed', async () => {
    const file = createStateFile(join(dir, 'missing'));
    await expect(file.write(document('a'))).rejects.toThrow('ENOENT');
    await mkdir(join(dir, 'missing'));
    await file.write(document('b'));
    expect(await file.read()).toEqual(document('b'));
  });

  it.each(['{', '{"id":"x"}'])('refuses a damaged file: %s', async (text) => {
    await writeFile(join(dir, 'state.json'), text);
    await expect(createStateFile(dir).read()).rejects.toThrow(/JSON|Invalid input/);
  });
});
