import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { locksWork } from '#server/storage/lock-probe.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('finds that locks work where a transaction can begin, and that they do not where it cannot', async () => {
  const home = await temporaryHome();
  expect(await locksWork(join(home, 'index.db'))).toBe(true);
  expect(await locksWork(join(home, 'nowhere', 'index.db'))).toBe(false);
});

it('finds that they do not work where no process can be started to try', async () => {
  const { execPath } = process;
  onTestFinished(() => void (process.execPath = execPath));
  process.execPath = '/nowhere/node';
  expect(await locksWork(join(await temporaryHome(), 'index.db'))).toBe(false);
});
