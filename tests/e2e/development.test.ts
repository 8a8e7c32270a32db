/**
 * `nitro dev`, as `npm run dev` starts it: serves the page, survives its reloads, ends cleanly. Build the page first.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { createDevServer, createNitro } from 'nitropack/core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import endpoints from '#endpoints';
import { developmentGuardModule } from '../../build/development-guard.ts';
import { tryParseJson } from '#server/text/json.ts';
import { DESKTOP } from '#support/accessibility.ts';
import { launchBrowser, openPage } from '#support/browser.ts';
import { remoteCloudDuringTest } from '#support/cloud/remote-home.ts';
import { startModelServer } from '#support/model-server.ts';
import { openRequests, requestWithoutBody } from '#support/open-requests.ts';
import { until } from '#support/patience.ts';
import { freePort, isOpen } from '#support/ports.ts';
import { rawRequest, rawUpgrade } from '#support/raw-request.ts';
import { homeWithProject, makeAndReview } from '#support/review-journey.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { PLAIN_SHELL } from '#support/terminals.ts';

const root = resolve(import.meta.dirname, '../..');

let home: string;
let url: string;
let child: ChildProcess;
let output: string;
let debugPort: number;

/** Addresses of this machine that others reach. */
const otherAddresses = Object.values(networkInterfaces())
  .flatMap((entries) => entries ?? [])
  .filter(({ internal, family }) => !internal && family === 'IPv4')
  .map(({ address }) => address);

/** Starts the dev server on a port of its own, and waits until the health check answers with this text. */
async function start(args: string[] = [], expected = '{"ok":true}'): Promise<void> {
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
  child = spawn(process.execPath, [join(root, 'bin/dev.cjs'), '--port', port, ...args], {
    cwd: root,
    env: {
      ...env,
      SERVICE_CODE_HOME: home,
      NODE_OPTIONS: `--inspect-port=127.0.0.1:${debugPort}`,
      // Only `--host` chooses the bind.
      HOST: '0.0.0.0',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (text: Buffer) => (output += text.toString()));
  const answer = () =>
    fetch(`${url}/api/v1/healthz`).then(
      (response) => response.text(),
      () => '',
    );
  await until(async () => (await answer()).includes(expected), 'the first answer');
}

/** Whether the dev server accepts connections to an address of this machine. */
const accepts = (address: string) => isOpen(Number(new URL(url).port), address);

/** Sends a request again while the dev server has no worker: it reloads when its watch begins, too. */
async function untilServed<T extends { status: number | undefined }>(send: () => Promise<T>): Promise<T> {
  return until(async () => {
    const answer = await send();
    return answer.status !== 503 && answer;
  }, 'a worker');
}

/** A request from an address of this machine; `body` is the parsed answer. */
const call = (...request: Parameters<typeof callOnce>) => untilServed(() => callOnce(...request));
function callOnce(
  method: string,
  path: string,
  token: string,
  options: { localAddress?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<{ status: number | undefined; body: unknown }> {
  const { body, headers, localAddress } = options;
  return new Promise((resolve, reject) => {
    const sent = request(
      `${url}/api/v1${path}`,
      {
        method,
        agent: false,
        ...(localAddress === undefined ? {} : { localAddress }),
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
      },
      (answer) => {
        text(answer).then((received) => resolve({ status: answer.statusCode, body: tryParseJson(received) }), reject);
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** The answer to a request for a terminal, in a session of its own. */
async function makeTerminal() {
  const token = await readFile(join(home, 'server.token'), 'utf8');
  const session = await call('POST', '/sessions', token, { body: { metadata: { cwd: home } } });
  const { id } = z.object({ data: z.object({ id: z.string() }) }).parse(session.body).data;
  return call('POST', `/sessions/${id}/terminals`, token, { body: { shell: PLAIN_SHELL } });
}

async function stop(): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  await rm(home, { recursive: true, force: true });
}

describe('without --host', () => {
  // The tests share a server, whose start takes long; the last one ends it.
  beforeAll(async () => {
    home = await temporaryDirectory();
    await start();
  });
  afterAll(stop);

  it('listens on 127.0.0.1 alone, and there answers no request with a foreign name', async () => {
    const { port } = new URL(url);
    expect(output).toContain(`  http://127.0.0.1:${port}/#token=`);
    for (const address of ['127.0.0.2', '::1', ...otherAddresses])
      expect([address, await accepts(address)]).toEqual([address, false]);
    for (const path of ['/_vfs.json', '/_vfs', '/_vfs/x', '/%5fvfs.json', '/_vfs.json?x']) {
      for (const host of ['evil.test', 'localhost', `127.0.0.1:${port}`]) {
        const answer = await rawRequest(url, { path, headers: { host } });
        expect([path, host, answer.status, answer.text]).toEqual([path, host, 404, 'Not found']);
      }
    }
    const foreign = await untilServed(() => rawRequest(url, { path: '/', headers: { host: 'evil.test' } }));
    expect(foreign.status).toBe(403);
    // On loopback the token has terminals, and failures ban no address.
    for (let failures = 0; failures < 12; failures += 1) expect((await call('GET', '/meta', 'wrong')).status).toBe(401);
    expect(await makeTerminal()).toMatchObject({ status: 200, body: { code: 0 } });
  });

  it('answers no client without the token, regardless of the spelling of the request target', async () => {
    const token = await readFile(join(home, 'server.token'), 'utf8');
    const { open, guarded, upgrades } = await openRequests(url, token, endpoints, 500);
    expect(open).toEqual([]);
    expect(guarded).toBeGreaterThan(20);
    expect(upgrades).toBeGreaterThan(5);
    // The dev server makes a path of its own of such a target, which is the page's.
    expect(await requestWithoutBody(url, 'GET', '*/api/v1/config')).toContain('<!doctype html>');
    expect(await requestWithoutBody(url, 'GET', '/api/v1/healthz')).toContain('"data":{"ok":true}');
    const upgrade = (headers: Record<string, string>) => rawUpgrade(url, '/api/v1/ws?x', headers);
    expect(await upgrade({ Authorization: `Bearer ${token}` })).toMatch(/^HTTP\/1\.1 101 /);
    expect(await upgrade({})).toMatch(/^HTTP\/1\.1 401 /);
  });

  it('reports SIGUSR1, which opens no debugger', async () => {
    child.kill('SIGUSR1');
    await until(() => output.includes('SIGUSR1 is ignored'), 'a line about the signal');
    expect(await isOpen(debugPort)).toBe(false);
    expect((await fetch(`${url}/api/v1/healthz`)).status).toBe(200);
  });

  it('serves browsers through a relay; after a reload of its worker, remote control starts again', async () => {
    const cloud = await remoteCloudDuringTest();
    const { relay } = cloud;
    await appendFile(join(home, 'config.toml'), `[cloud]\nurl = "${cloud.cloud.url}"\nremote_base = "${relay.url}"\n`);
    await cloud.logIn(home);
    const token = await readFile(join(home, 'server.token'), 'utf8');
    const remote = async (enabled?: boolean) => {
      const method = enabled === undefined ? 'GET' : 'POST';
      const { body } = await call(method, '/remote-control', token, enabled === undefined ? {} : { body: { enabled } });
      return z.object({ data: z.looseObject({ state: z.string() }).nullable() }).parse(body).data;
    };
    const isOn = async () => (await remote(true))?.state === 'on';
    await until(isOn, 'remote control');
    const served = async (path: string) =>
      fetch(relay.url + relay.prefix() + path, { headers: { authorization: `Bearer ${token}` } });
    expect(await (await served('/')).text()).toContain(`name="service-base" content="${relay.prefix()}/"`);
    expect((await served('/api/v1/meta')).status).toBe(200);
    const upgrade = await rawUpgrade(relay.url, `${relay.prefix()}/api/v1/ws`, {
      Authorization: `Bearer ${token}`,
    });
    expect(upgrade).toMatch(/^HTTP\/1\.1 101 /);
    const first = relay.tunnel();
    const time = new Date();
    await utimes(join(root, 'server/version.ts'), time, time);
    await first.closed;
    const isFree = async () => {
      const now = await remote();
      return now?.state === 'off' && now.conflict === undefined;
    };
    await until(isFree, 'a worker without a conflict');
    await until(isOn, 'remote control of the next worker');
    expect((await served('/api/v1/meta')).status).toBe(200);
    await remote(false);
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
});

describe('with a home of its own', () => {
  beforeEach(async () => {
    home = await temporaryDirectory();
  });
  afterEach(stop);

  it('leads a person from the first session to the review of an approved change', async () => {
    const model = await startModelServer();
    onTestFinished(model.close);
    const project = await homeWithProject(home, model);
    await start();
    const token = await readFile(join(home, 'server.token'), 'utf8');
    const added = await call('POST', '/workspaces', token, { body: { root: project, name: 'Mine' } });
    expect(added.body).toMatchObject({ code: 0 });
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const { page, errors } = await openPage(browser, { url, token }, { viewport: DESKTOP });
    await makeAndReview(page, { model, workspace: 'Mine' });
    expect(errors).toEqual([]);
  });

  it('with --host guards as the built server does on a bind that others reach, also after a reload', async () => {
    await start(['--host', '0.0.0.0']);
    for (const address of ['127.0.0.2', ...otherAddresses])
      expect([address, await accepts(address)]).toEqual([address, true]);
    expect(output).toContain('plain HTTP');
    const page = await untilServed(() => fetch(url));
    expect(page.headers.get('content-security-policy')).toContain("default-src 'self'");
    expect(await makeTerminal()).toMatchObject({ status: 404, body: { code: 40400 } });
    const token = await readFile(join(home, 'server.token'), 'utf8');
    const serverId = async () =>
      JSON.stringify((await call('GET', '/meta', token)).body).match(/"server_id":"\w+"/)?.[0];
    const before = await serverId();
    const now = new Date();
    await utimes(join(root, 'server/version.ts'), now, now);
    await until(async () => {
      const after = await serverId();
      return after !== undefined && after !== before;
    }, 'the reload');
    expect(await makeTerminal()).toMatchObject({ status: 404, body: { code: 40400 } });
    // The header of a client does not choose the address that is banned. A reload may have forgotten failures.
    const guess = (bearer: string, more: object = {}) =>
      call('GET', '/meta', bearer, { localAddress: '127.0.0.3', ...more });
    let guesses = 0;
    const isBanned = async () => {
      guesses += 1;
      const { status } = await guess('wrong', { headers: { 'x-forwarded-for': `10.0.0.${guesses}` } });
      expect([401, 429]).toContain(status);
      return status === 429 && (await guess(token)).status === 429;
    };
    await until(isBanned, 'the ban');
    expect((await call('GET', '/meta', token)).status).toBe(200);
    const upgrade = (bearer: string) => rawUpgrade(url, '/api/v1/ws', { Authorization: `Bearer ${bearer}` });
    await until(async () => (await upgrade(token)).startsWith('HTTP/1.1 101 '), 'an upgrade');
    await until(async () => (await upgrade('wrong')).startsWith('HTTP/1.1 429 '), 'the ban of upgrades');
    expect(await upgrade(token)).toMatch(/^HTTP\/1\.1 429 /);
  });

  it('shows no path or source while the app cannot start', async () => {
    await writeFile(join(home, 'server.token'), 'x', { mode: 0o644 });
    await start([], 'could not start');
    for (const accept of ['text/html', 'application/json']) {
      const answer = await rawRequest(url, { path: '/', headers: { host: 'evil.test', accept } });
      expect([answer.status, answer.text]).toEqual([503, 'The server could not start; its terminal shows why.\n']);
    }
    await until(() => output.includes('server.token has mode 0644'), 'the reason in the terminal');
  });
});

it('shows no path or source of a build that failed', async () => {
  const rootDir = await temporaryDirectory();
  const nitro = await createNitro({ rootDir, dev: true, logLevel: -999, modules: [developmentGuardModule] });
  const server = createDevServer(nitro);
  try {
    const listener = await server.listen(0, { hostname: '127.0.0.1', showURL: false });
    const failure = new Error(`unexpected token in ${rootDir}/secret.ts`);
    await nitro.hooks.callHook('dev:error', failure);
    for (const accept of ['text/html', 'application/json']) {
      const answer = await rawRequest(listener.url, { path: '/', headers: { host: 'evil.test', accept } });
      expect([answer.status, answer.text]).toEqual([503, 'The server is not available; its terminal shows why.\n']);
    }
  } finally {
    await nitro.close();
    await rm(rootDir, { recursive: true, force: true });
  }
});
