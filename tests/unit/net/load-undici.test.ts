import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { expect, it, onTestFinished } from 'vitest';
import { loadUndici, PARTS } from '#server/net/load-undici.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';

it('loads modules first that the entry of undici requires', () => {
  const require = createRequire(import.meta.url);
  require('undici');
  for (const part of PARTS) expect(require.cache).toHaveProperty([require.resolve(part)]);
});

it('lets the event loop turn before it resolves', async () => {
  // After each part, Node's own copy and the entry.
  const expected = PARTS.length + 2;
  let turns = 0;
  const turn = () => {
    turns += 1;
    if (turns < expected) setImmediate(turn);
  };
  setImmediate(turn);
  const { EnvHttpProxyAgent } = await loadUndici();
  expect(EnvHttpProxyAgent).toBeTypeOf('function');
  expect(turns).toBe(expected);
});

const MIB = 1024 * 1024;
const CHUNKS = 10_000;

it('takes no memory to optimize the parser of replies', async () => {
  const port = await listenDuringTest(
    createServer((_request, response) => {
      for (let chunk = 0; chunk < CHUNKS; chunk += 1) response.write('data: {}\n\n');
      response.end();
    }),
  );
  const programs = await programFolder();
  onTestFinished(() => rm(programs, { recursive: true }));
  const child = startProgram(await buildProgram('reply-reader', programs));
  onTestFinished(() => void child.kill('SIGKILL'));
  child.send(`http://127.0.0.1:${port}`);
  const [growth] = await once(child, 'message');
  expect(growth).toBeLessThan(24 * MIB);
});
