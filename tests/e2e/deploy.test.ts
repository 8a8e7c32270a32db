/** The unit of `deploy/`; `proxy.test.ts` starts the proxies with their files. */
import { spawnSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';

const folder = resolve(import.meta.dirname, '../../deploy');

function isInstalled(program: string): boolean {
  const found = spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  if (!found) process.stderr.write(`${program} is not installed: its file in deploy/ is not tested\n`);
  return found;
}

it.skipIf(!isInstalled('systemd-analyze'))('the unit has no mistake that systemd finds', () => {
  const unit = join(folder, 'service-code.service');
  const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', unit], { encoding: 'utf8' });
  const lines = stderr.split('\n').filter((line) => line.includes('service-code.service'));
  expect([status, lines]).toEqual([0, []]);
});

it('the unit leaves the server the time of its stop', async () => {
  const text = await readFile(join(folder, 'service-code.service'), 'utf8');
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1])).toBeGreaterThan(10);
});
