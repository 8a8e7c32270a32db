/** The upgrade of `/api/v1/ws`: what is refused and how, and where a token may stand. */
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { rawUpgrade } from '#support/raw-request.ts';
import { startServer } from '#support/server.ts';
import type { TestServer } from '#support/server.ts';

let server: TestServer;
beforeAll(async () => (server = await startServer()));
afterAll(() => server.close());

const upgrade = (headers: Record<string, string>, path = '/api/v1/ws', to: TestServer = server): Promise<string> =>
  rawUpgrade(to.url, path, headers);
const bearer = () => ({ Authorization: `Bearer ${server.token}` });
const bare = (status: string) => `HTTP/1.1 ${status}\r\nConnection: close\r\n\r\n`;

describe('upgrade', () => {
  it('is refused with a bare status line', async () => {
    expect(await upgrade({})).toBe(bare('401 Unauthorized'));
    expect(await upgrade({ ...bearer(), Host: 'evil.test' })).toBe(bare('403 Forbidden'));
    expect(await upgrade({ ...bearer(), Origin: 'https://evil.test' })).toBe(bare('403 Forbidden'));
    expect(await upgrade({}, `/api/v1/ws?token=${server.token}`)).toBe(bare('401 Unauthorized'));
  });

  it.each(['/api/v1/ws/', '/api/v1/WS', '/api/v1/%77s', '/', '/api/v1/meta'])(
    'closes %s without an answer',
    async (path) => {
      expect(await upgrade(bearer(), path)).toBe('');
    },
  );

  it('echoes the subprotocol that carries the token and no other', async () => {
    const carrier = `service-code.bearer.${server.token}`;
    const echoed = await upgrade({ 'Sec-WebSocket-Protocol': `chat, ${carrier}` });
    expect(echoed).toMatch(/^HTTP\/1\.1 101/);
    expect(echoed).toContain(`Sec-WebSocket-Protocol: ${carrier}\r\n`);
    const silent = await upgrade({
      ...bearer(),
      'Sec-WebSocket-Protocol': 'chat',
      'Sec-WebSocket-Extensions': 'permessage-deflate',
    });
    expect(silent).toMatch(/^HTTP\/1\.1 101/);
    expect(silent).not.toMatch(/Sec-WebSocket-(Protocol|Extensions)/i);
  });

  it('lets a header decide over a subprotocol', async () => {
    const carrier = { 'Sec-WebSocket-Protocol': `service-code.bearer.${server.token}` };
    expect(await upgrade({ ...carrier, Authorization: 'Bearer wrong' })).toBe(bare('401 Unauthorized'));
    expect(await upgrade({ ...carrier, Authorization: 'Basic wrong' })).toMatch(/^HTTP\/1\.1 101/);
  });

  it('is refused with 429 under a ban, which refused upgrades bring about', async () => {
    const remote = await startServer({ host: '0.0.0.0' });
    try {
      for (let failures = 0; failures < 10; failures += 1) {
        expect(await upgrade({}, '/api/v1/ws', remote)).toBe(bare('401 Unauthorized'));
      }
      const valid = { Authorization: `Bearer ${remote.token}` };
      expect(await upgrade(valid, '/api/v1/ws', remote)).toBe(bare('429 Too Many Requests'));
    } finally {
      await remote.close();
    }
  });
});

it('closes a connection whose frame is over 16 MiB with 1009', async () => {
  const socket = new WebSocket(`${server.url}/api/v1/ws`, { headers: bearer() });
  await once(socket, 'open');
  socket.send(Buffer.alloc(16 * 1024 * 1024 + 1));
  const [code] = await once(socket, 'close');
  expect(code).toBe(1009);
});
