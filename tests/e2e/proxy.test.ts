/** The built server after nginx and Caddy with TLS and a path, by the files of `deploy/`. */
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocket } from 'ws';
import * as z from 'zod';
import { launchBrowser, openPage } from '#support/browser.ts';
import { until } from '#support/patience.ts';
import { freePort } from '#support/ports.ts';
import { proxies, type Proxy } from '#support/proxies.ts';
import { spawnServer } from '#support/spawned-server.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { tlsRequest } from '#support/tls-request.ts';

for (const { name, isInstalled } of proxies) {
  if (!isInstalled) process.stderr.write(`${name} is not installed: the server is not tested with it\n`);
}

async function start(proxy: Proxy) {
  const folder = await temporaryHome();
  const args = ['--base-path', '/code', '--trust-proxy', '127.0.0.1', '--allowed-host', 'code.example.org', '--demo'];
  const server = await spawnServer({ home: join(folder, 'home'), args });
  onTestFinished(() => server.close());
  const port = await freePort();
  await proxy.start(folder, port, new URL(server.url));
  const send = (localAddress: string, path: string, headers: Record<string, string> = {}, method = 'GET') =>
    tlsRequest(`https://127.0.0.1:${port}${path}`, { localAddress, headers, method, rejectUnauthorized: false });
  const bearer = { authorization: `Bearer ${server.token}` };
  return { folder, server, port, send, bearer };
}

const connections = z.object({ connections: z.array(z.object({ remote_address: z.string() })) });

/** The status of an upgrade that a client sends over TLS from an address of its own. */
function upgradeStatus(port: number, localAddress: string, token: string): Promise<number> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/code/api/v1/ws`, [`service-code.bearer.${token}`], {
    localAddress,
    rejectUnauthorized: false,
  });
  return new Promise((resolve, reject) => {
    socket.once('unexpected-response', (request, { statusCode = 0 }) => {
      request.destroy();
      resolve(statusCode);
    });
    socket.once('open', () => {
      socket.terminate();
      resolve(101);
    });
    // A destroyed request reports an error after its answer, which changes nothing.
    socket.on('error', reject);
  });
}

describe.each(proxies)('$name', (proxy) => {
  it.skipIf(!proxy.isInstalled)('headers that a client sends have no effect', async () => {
    const { server, send, bearer } = await start(proxy);
    expect(server.errors()).toContain('through a proxy');
    expect(server.errors()).not.toContain('plain HTTP');
    expect((await send('127.0.0.2', '/code')).status).toBe(301);
    expect((await send('127.0.0.2', '/code/api/v1/meta', bearer)).status).toBe(200);
    expect((await send('127.0.0.2', '/code/', { host: 'evil.test', 'x-forwarded-host': 'localhost' })).status).toBe(
      403,
    );
    expect((await send('127.0.0.2', '/code/', { host: 'code.example.org' })).status).not.toBe(403);
    for (const [path, method] of [
      ['/code/api/v1/shutdown', 'POST'],
      ['/code/api/v1/sessions/x/terminals', 'GET'],
    ] as const) {
      expect((await send('127.0.0.2', path, bearer, method)).text).toContain('40400');
    }

    const spoofed = ['127.0.0.1', '9.9.9.9', '127.0.0.1, 8.8.8.8', 'x'];
    for (let n = 0; n < 10; n += 1) {
      const headers = { authorization: 'Bearer bad', 'x-forwarded-for': spoofed[n % spoofed.length] ?? '' };
      expect((await send('127.0.0.2', '/code/api/v1/meta', headers)).status).toBe(401);
    }
    for (const address of spoofed) {
      const answer = await send('127.0.0.2', '/code/api/v1/meta', { ...bearer, 'x-forwarded-for': address });
      expect(answer.status).toBe(429);
    }
    expect((await send('127.0.0.3', '/code/api/v1/meta', bearer)).status).toBe(200);
  });

  it.skipIf(!proxy.isInstalled)(
    'upgrades with a wrong token ban the client that sends them, and no other one',
    async () => {
      const { server, port, send, bearer } = await start(proxy);
      const upgrade = (address: string, token: string) => upgradeStatus(port, address, token);
      for (let n = 0; n < 9; n += 1) expect(await upgrade('127.0.0.2', 'bad')).toBe(401);
      // Requests and upgrades of one client count together.
      expect((await send('127.0.0.2', '/code/api/v1/meta', { authorization: 'Bearer bad' })).status).toBe(401);
      expect(await upgrade('127.0.0.2', server.token)).toBe(429);
      expect((await send('127.0.0.2', '/code/', bearer)).status).toBe(429);
      expect(await upgrade('127.0.0.3', server.token)).toBe(101);
      expect((await send('127.0.0.3', '/code/api/v1/meta', bearer)).status).toBe(200);
      // A direct connection of this machine is another client than those of the proxy.
      expect((await server.api('GET', '/meta')).code).toBe(0);
    },
  );

  it.skipIf(!proxy.isInstalled)('a browser has the page, its events and a session below the path', async () => {
    const { folder, server, port } = await start(proxy);
    const { data } = await server.api('POST', '/workspaces', { root: folder, name: 'Far away' });
    expect(data).toMatchObject({ name: 'Far away' });
    const browser = await launchBrowser();
    onTestFinished(() => browser.close());
    const { page, errors, requests } = await openPage(
      browser,
      { url: `https://localhost:${port}/code/`, token: server.token },
      { ignoreHTTPSErrors: true },
    );
    await page.getByRole('main').getByRole('button', { name: 'New session' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Far away' }).click();
    const prompt = page.getByRole('textbox', { name: 'Prompt' });
    await prompt.fill('Hello');
    await prompt.press('Enter');
    await until(async () => JSON.stringify((await server.api('GET', '/sessions')).data).includes('Hello'));
    const open = await until(async () => {
      const read = connections.parse((await server.api('GET', '/connections')).data);
      return read.connections.length > 0 && read.connections;
    });
    expect(open).toEqual([expect.objectContaining({ remote_address: '127.0.0.1' })]);
    expect(requests.filter((line) => !/ \/code\//.test(line))).toEqual([]);
    expect(errors).toEqual([]);
  });
});
