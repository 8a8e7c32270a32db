import { expect, it } from 'vitest';
import { createFirstUses } from '#server/account/first-uses.ts';
import { createLogger } from '#server/logging/log.ts';

it('logs the first use of an address that is not encrypted, beyond this machine', () => {
  const lines: string[] = [];
  const noteUse = createFirstUses(createLogger('debug', (line) => void lines.push(line)));
  for (const quiet of [
    'https://cloud.test/a',
    'wss://relay.test/',
    'http://127.0.0.1:1',
    'http://localhost/',
    'http://[::1]:80/',
    'nothing',
  ]) {
    noteUse(quiet);
  }
  expect(lines).toEqual([]);
  for (const address of [
    'http://cloud.test/a',
    'http://cloud.test/b?x=secret',
    'http://cloud.test:81/',
    'ws://relay.test/tunnel',
  ])
    noteUse(address);
  expect(lines).toHaveLength(3);
  expect(lines.join('')).toContain('http://cloud.test:81');
  expect(lines.join('')).not.toContain('secret');
});
