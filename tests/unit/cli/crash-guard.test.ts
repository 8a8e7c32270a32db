import { once } from 'node:events';
import { expect, it, onTestFinished } from 'vitest';
import { buildProgram, startProgram } from '#support/programs.ts';
import { temporaryHome } from '#support/temporary-home.ts';

it('a stray rejection and a stray exception are logged, and the process keeps running', async () => {
  const child = startProgram(await buildProgram('stray-errors', await temporaryHome()));
  onTestFinished(() => void child.kill());
  const said: string[] = [];
  child.on('message', (message) => said.push(String(message)));
  await expect.poll(() => said).toHaveLength(2);
  expect(said.map((line) => JSON.parse(line))).toMatchObject([
    { level: 60, msg: 'unhandled rejection', err: { message: 'rejected' } },
    { level: 60, msg: 'uncaught exception', err: { message: 'thrown', cause: '[circular]' } },
  ]);
  child.send('are you there');
  const [answer] = await once(child, 'message');
  expect(answer).toBe('alive');
});
