import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { libsqlFile } from '#server/storage/index-db.ts';
import { locksWork } from '#server/storage/lock-probe.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('returns true where a transaction can begin, and false where it cannot', async () => {
  const home = await temporaryHome();
  expect(await locksWork(join(home, 'index.db'), libsqlFile())).toBe(true);
  expect(await locksWork(join(home, 'nowhere', 'index.db'), libsqlFile())).toBe(false);
});

it('returns false where no process can be started', async () => {
  const { execPath } = process;
  onTestFinished(() => void (process.execPath = execPath));
  process.execPath = '/nowhere/node';
  expect(await locksWork(join(await temporaryHome(), 'index.db'), libsqlFile())).toBe(false);
});
