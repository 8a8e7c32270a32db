/**
 * `nitro dev`, as `npm run dev` starts it: serves the page, survives its reloads, ends cleanly. Build the page first.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import endpoints from '#endpoints';
import { publicPath } from '#utils/http/route-table.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { openRequests, requestWithoutBody } from '#support/open-requests.ts';
import { until } from '#support/patience.ts';
import { freePort, isOpen } from '#support/ports.ts';
import { rawUpgrade } from '#support/raw-request.ts';
import { temporaryDirectory } from '#support/server.ts';

const root = resolve(import.meta.dirname, '../..');

let home: string;
let url: string;
let child: ChildProcess;
let output: string;
let debugPort: number;

beforeEach(async () => {
  home = await temporaryDirectory();
  const port = String(await freePort());
  debugPort = await freePort();
  url = `http://127.0.0.1:${port}`;
  output = '';
  // What says "test" or "CI" makes nitro behave otherwise than at a desk.
  const {
    CI: _ci,
    NODE_ENV: _mode,
    TEST: _test,
    VITEST: _vitest,
    PORT: _port,
    NITRO_PORT: _nitro,
    ...env
  } = process.env;
  child = spawn(process.execPath, [join(root, 'bin/dev.cjs'), '--host', '127.0.0.1', '--port', port], {
    cwd: root,
    env: { ...env, SERVICE_CODE_HOME: home, NODE_OPTIONS: `--inspect-port=127.0.0.1:${debugPort}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += text.toString()));
  const healthy = () =>
    fetch(`${url}/api/v1/healthz`).then(
      (response) => response.ok,
      () => false,
    );
  await expect.poll(healthy, { interval: 250 }).toBe(true);
});
afterEach(async () => {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(home, { recursive: true, force: true });
});

it('answers nobody without the token, however the request target is spelled', async () => {
  const routes = endpoints.map(({ route }) => publicPath(route));
  expect(await openRequests(url, routes, 500)).toEqual([]);
  // The dev server makes a path of its own of such a target, which is the page's.
  expect(await requestWithoutBody(url, 'GET', '*/api/v1/config')).toContain('<!doctype html>');
  expect(await requestWithoutBody(url, 'GET', '/api/v1/healthz')).toContain('"data":{"ok":true}');
  const token = await readFile(join(home, 'server.token'), 'utf8');
  const upgrade = (headers: Record<string, string>) => rawUpgrade(url, '/api/v1/ws?x', headers);
  expect(await upgrade({ Authorization: `Bearer ${token}` })).toMatch(/^HTTP\/1\.1 101 /);
  expect(await upgrade({})).toMatch(/^HTTP\/1\.1 401 /);
});

it('serves the page, survives reloads of the browser, and closes the app at the end', async () => {
  const token = await readFile(join(home, 'server.token'), 'utf8');
  expect(output).toContain(`:${new URL(url).port}/#token=${token}`);
  const browser = await launchBrowser();
  try {
    const { page, errors } = await openPage(browser, { url, token });
    const ready = () => page.getByRole('button', { name: 'New session', exact: true }).first().waitFor();
    await ready();
    const connected = async () => {
      const response = await fetch(`${url}/api/v1/connections`, { headers: { authorization: `Bearer ${token}` } });
      return JSON.stringify(await response.json()).match(/"connected_at"/g)?.length ?? 0;
    };
    for (let reloads = 0; reloads < 5; reloads += 1) {
      await expect.poll(connected).toBe(1);
      await page.reload();
      await ready();
    }
    expect(errors).toEqual([]);
  } finally {
    await browser.close();
  }
  expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
  expect(await readdir(join(home, 'server', 'instances'))).toHaveLength(1);
  const exited = once(child, 'exit');
  child.kill('SIGINT');
  expect(await exited).toEqual([0, null]);
  expect(await readdir(join(home, 'server', 'instances'))).toEqual([]);
});

it('reports SIGUSR1, which opens no debugger', async () => {
  child.kill('SIGUSR1');
  await until(() => output.includes('SIGUSR1 is ignored'), 'a line about the signal');
  expect(await isOpen(debugPort)).toBe(false);
  expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
});
