/** From the spawn to the first healthy reply: the built server, against a bare `node:http` server. Build first. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, bench, describe } from 'vitest';
import { spawnServer, type SpawnedServer } from '#support/server.ts';
import { createFigure, report } from './figures.ts';

const run = { iterations: 10, time: 0, warmupIterations: 1, warmupTime: 0 };
const BARE = `
  const server = require('node:http').createServer((_, response) => response.end('{}'));
  server.listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

const bare = createFigure();
const built = createFigure();

async function startBare(): Promise<void> {
  let child: ChildProcess | undefined;
  await bare.measure(1, async () => {
    const spawned = spawn(process.execPath, ['--eval', BARE], { stdio: ['ignore', 'pipe', 'inherit'] });
    child = spawned;
    const [port] = await once(spawned.stdout, 'data');
    await expectHealthy(`http://127.0.0.1:${String(port).trim()}/`);
  });
  child?.kill('SIGKILL');
}

async function startBuilt(): Promise<void> {
  let server: SpawnedServer | undefined;
  await built.measure(1, async () => {
    server = await spawnServer();
    await expectHealthy(`${server.url}/api/v1/healthz`);
  });
  await server?.stop('SIGKILL');
  await server?.close();
}

async function expectHealthy(url: string): Promise<void> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  await response.text();
}

afterAll(() => {
  report('bare node:http, spawn to first reply', 1000 / bare.perSecond(), 'ms');
  report('built server, spawn to first healthy reply', 1000 / built.perSecond(), 'ms');
  report('built server against bare node:http', bare.perSecond() / built.perSecond(), '×');
});

describe('start', () => {
  bench('bare node:http', startBare, run);
  bench('built server', startBuilt, run);
});
