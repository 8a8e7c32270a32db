/** Fetches from this machine from hostile hosts: a real server, with a network of the test. */
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { noLogins } from '#support/no-logins.ts';
import { createLogger } from '#server/logging/log.ts';
import { createHttpClient, type HttpClient } from '#server/net/http-client.ts';
import type { Network } from '#server/net/network.ts';
import { webUrl } from '#server/web/address.ts';
import { WebFailure } from '#server/web/failure.ts';
import { createWeb, FETCH_MS, type Page, type Web, type WebDeps } from '#server/web/web.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { until } from '#support/patience.ts';
import { sends, startWebHost, testNetwork, type WebHost } from '#support/web-host.ts';

let host: WebHost;
let client: HttpClient;
let clock: ManualClock;
let web: Web;
beforeAll(async () => {
  host = await startWebHost();
  client = createHttpClient();
});
afterAll(async () => {
  await client.close();
  await host.close();
});
beforeEach(() => {
  const proxies = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'all_proxy', 'ALL_PROXY'];
  for (const name of [...proxies, 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, undefined);
  }
  clock = manualClock();
  web = webWith({});
  host.requests.length = 0;
});
afterEach(() => vi.unstubAllEnvs());

const webWith = (deps: Partial<WebDeps>) =>
  createWeb({
    services: () => ({}),
    fetch: client.fetch,
    network: testNetwork,
    logins: noLogins,
    userAgent: () => 'service-code/0',
    identityHeaders: () => ({}),
    clock,
    log: createLogger('silent'),
    ...deps,
  });

const at = (path: string, name = 'site.test') => `http://${name}:${host.port}${path}`;
const never = new AbortController().signal;
const get = (url: string, { signal = never, from = web }: { signal?: AbortSignal; from?: Web } = {}): Promise<Page> =>
  from.fetchPage(webUrl(url), { toolCallId: 'call_1', signal });

/** The failure of a fetch. */
async function problem(url: string, options: Parameters<typeof get>[1] = {}): Promise<string> {
  const error: unknown = await get(url, options).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(WebFailure);
  return error instanceof Error ? error.message : '';
}

describe('a fetch returns', () => {
  test('text verbatim; the request has the user agent and no further identity', async () => {
    host.on('/plain', sends('  # As\n\n  it is \n', { 'content-type': 'text/plain', 'set-cookie': 'a=b; Path=/' }));
    const page = { url: at('/plain'), verbatim: true, title: '', text: '  # As\n\n  it is \n' };
    expect(await get(at('/plain'))).toEqual(page);
    await get(at('/plain#there'));
    const [first, second] = host.requests;
    expect(first?.method).toBe('GET');
    expect(Object.keys(first?.headers ?? {}).toSorted()).toEqual([
      'accept',
      'accept-encoding',
      'connection',
      'host',
      'user-agent',
    ]);
    expect(first?.headers).toMatchObject({ host: `site.test:${host.port}`, 'user-agent': 'service-code/0' });
    expect(second).toEqual(first);
  });

  test.each<[string, Record<string, string>, string, Partial<Page>]>([
    ['Markdown', { 'content-type': 'text/markdown; charset=utf-8' }, '# A\n<b>', { verbatim: true, text: '# A\n<b>' }],
    ['JSON', { 'content-type': 'application/json' }, '{"a":"<b>"}', { verbatim: true, text: '{"a":"<b>"}' }],
    ['a feed', { 'content-type': 'application/atom+xml' }, '<feed><title>T</title></feed>', { verbatim: false }],
    ['text without a type', {}, 'a < b', { verbatim: true, text: 'a < b' }],
    ['a page without a type', {}, '\n<!doctype html><p>Hello', { verbatim: false, text: 'Hello' }],
    ['nothing', { 'content-type': 'text/html' }, '', { verbatim: false, text: '' }],
    ['what is squeezed', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }, 'small', { text: 'small' }],
  ])('%s', async (what, headers, body, page) => {
    host.on('/kind', sends(what === 'what is squeezed' ? gzipSync(body) : body, headers));
    expect(await get(at('/kind'))).toMatchObject(page);
  });

  test.each([
    'image/png',
    'image/svg+xml',
    'application/pdf',
    'application/octet-stream',
    'application/zip',
    'video/mp4',
    'font/woff2',
  ])('%s is refused by its type', async (type) => {
    host.on('/binary', sends('<p>not looked at', { 'content-type': `${type}; charset=utf-8` }));
    expect(await problem(at('/binary'))).toBe(`is of the type ${type}, which is no text`);
  });

  test.each(['text/plain', 'text/html', ''])('binary content of the type "%s" is refused', async (type) => {
    host.on('/liar', sends(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 0, 1]), type ? { 'content-type': type } : {}));
    expect(await problem(at('/liar'))).toContain('is binary');
  });

  test.each([
    [404, 'answered with status 404 Not Found'],
    [500, 'answered with status 500 Internal Server Error'],
    [304, 'answered with status 304 Not Modified'],
    [300, 'answered with status 300 Multiple Choices'],
  ])('status %i', async (status, message) => {
    host.on('/status', (_request, response) => void response.writeHead(status, { 'content-type': 'text/html' }).end());
    expect(await problem(at('/status'))).toBe(message);
  });
});

describe('redirects', () => {
  const redirect = (from: string, to: string, status = 302) =>
    host.on(from, (_request, response) => void response.writeHead(status, { location: to }).end('gone'));

  test.each([301, 302, 303, 307, 308])('%i is followed, also to another host', async (status) => {
    redirect('/from', at('/to#part', 'other.test'), status);
    host.on('/to', sends('there', { 'content-type': 'text/plain' }));
    expect(await get(at('/from'))).toMatchObject({ url: at('/to', 'other.test'), text: 'there' });
    expect(host.requests.map(({ headers }) => headers.host)).toEqual([
      `site.test:${host.port}`,
      `other.test:${host.port}`,
    ]);
  });

  test('ten are followed, eleven are not', async () => {
    for (let step = 1; step <= 11; step++) redirect(`/hop${step}`, `/hop${step - 1}`);
    host.on('/hop0', sends('end', { 'content-type': 'text/plain' }));
    expect(await get(at('/hop10'))).toMatchObject({ text: 'end' });
    host.requests.length = 0;
    expect(await problem(at('/hop11'))).toBe('redirects more than 10 times');
    expect(host.requests).toHaveLength(11);
  });

  test.each<[string, string]>([
    ['http://localhost:1/', 'not on the public internet'],
    ['http://127.0.0.2/', 'not on the public internet'],
    ['http://2130706434/', 'not on the public internet'],
    ['//10.0.0.1/admin', 'not on the public internet'],
    ['http://169.254.169.254/latest/meta-data/', 'not on the public internet'],
    ['http://[::ffff:7f00:1]/', 'not on the public internet'],
    ['http://nowhere.example/', 'was not found'],
    ['file:///etc/passwd', 'has a URL of file:'],
    ['gopher://site.test/', 'has a URL of gopher:'],
    ['http://user:secret@site.test/', 'user name or password'],
    ['http://[', 'has no valid URL'],
  ])('into %s is refused', async (to, message) => {
    redirect('/into', to);
    expect(await problem(at('/into'))).toContain(message);
    expect(host.requests).toHaveLength(1);
  });
});

describe('rebinding', () => {
  /** Resolves to the next of these answers for each request. */
  function rebound(...answers: string[][]): { network: Network; asked: () => number } {
    let asked = 0;
    const resolve = async () => answers[asked++] ?? expect.unreachable('asked once more');
    return { network: { ...testNetwork, resolve }, asked: () => asked };
  }

  test('a name is resolved once: the connection goes to the checked address', async () => {
    const { network, asked } = rebound(['127.0.0.1'], ['127.0.0.2']);
    host.on('/once', sends('public', { 'content-type': 'text/plain' }));
    expect(await get(at('/once', 'rebind.test'), { from: webWith({ network }) })).toMatchObject({ text: 'public' });
    expect(asked()).toBe(1);
  });

  test('a redirect to the same name resolves it again, and does not connect to a private address', async () => {
    const { network, asked } = rebound(['127.0.0.1'], ['127.0.0.2']);
    host.on('/again', (_request, response) => void response.writeHead(302, { location: '/again' }).end());
    expect(await problem(at('/again', 'rebind.test'), { from: webWith({ network }) })).toContain('public internet');
    expect(asked()).toBe(2);
    expect(host.requests).toHaveLength(1);
  });

  test('one address that is not public is enough to refuse', async () => {
    const { network } = rebound(['127.0.0.1', '192.168.0.1']);
    expect(await problem(at('/', 'both.test'), { from: webWith({ network }) })).toContain('public internet');
    expect(host.requests).toEqual([]);
  });
});

describe('too much', () => {
  const MAX = 10 * 1024 * 1024;

  test('a body whose declared length is too large is not read', async () => {
    host.on('/long', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': MAX + 1 });
      response.write('x');
    });
    expect(await problem(at('/long'))).toBe(`is larger than ${MAX} bytes`);
  });

  test('an endless body is aborted', async () => {
    let closed: Promise<unknown> | undefined;
    host.on('/endless', (_request, response) => {
      closed = once(response, 'close');
      response.writeHead(200, { 'content-type': 'text/html' });
      pour(response);
    });
    expect(await problem(at('/endless'))).toBe(`is larger than ${MAX} bytes`);
    await closed;
  });

  test('a body that is small only when compressed', async () => {
    const bomb = gzipSync(Buffer.alloc(4 * MAX));
    expect(bomb.length).toBeLessThan(MAX / 100);
    host.on('/bomb', sends(bomb, { 'content-type': 'text/html', 'content-encoding': 'gzip' }));
    expect(await problem(at('/bomb'))).toBe(`is larger than ${MAX} bytes`);
  });

  test('broken gzip, and a body that closes early', async () => {
    host.on('/broken', sends('no gzip', { 'content-type': 'text/plain', 'content-encoding': 'gzip' }));
    expect(await problem(at('/broken'))).toContain('could not be reached: ');
    host.on('/short', (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/plain', 'content-length': 100 });
      response.write('x', () => response.destroy());
    });
    expect(await problem(at('/short'))).toContain('could not be reached: ');
  });

  test('endless headers', async () => {
    host.on('/headers', (_request, response) => {
      response.socket?.write(`HTTP/1.1 200 OK\r\n${'x-more: y\r\n'.repeat(20_000)}\r\n`);
    });
    expect(await problem(at('/headers'))).toContain('could not be reached: ');
  });

  /** Writes until the connection is closed. */
  function pour(response: ServerResponse): void {
    const piece = Buffer.alloc(64 * 1024, 'x');
    const more = () => {
      while (!response.destroyed && response.write(piece));
    };
    response.on('drain', more);
    more();
  }
});

describe('too slow', () => {
  test.each(['drips', 'says nothing'])('a host that %s is given up', async (how) => {
    const begun = new Promise<ServerResponse>((resolve) => {
      host.on('/slow', (_request, response) => {
        if (how === 'drips') response.writeHead(200, { 'content-type': 'text/html' }).write('<p>a');
        resolve(response);
      });
    });
    const failing = problem(at('/slow'));
    const response = await begun;
    const closed = once(response, 'close');
    for (let left = FETCH_MS; left > 0; left -= 1000) {
      if (how === 'drips') response.write('.');
      clock.advance(1000);
    }
    expect(await failing).toBe(`timed out after ${FETCH_MS / 1000} s`);
    await closed;
    expect(clock.waits()).toEqual([]);
  });

  test('a resolver that does not answer is given up', async () => {
    const stuck = { ...testNetwork, resolve: () => new Promise<string[]>(() => undefined) };
    const failing = problem(at('/'), { from: webWith({ network: stuck }) });
    await until(() => clock.waits().length === 1);
    clock.advance(FETCH_MS);
    expect(await failing).toContain('timed out');
  });
});

describe('an abort', () => {
  test('in the middle of a fetch closes the connection', async () => {
    const controller = new AbortController();
    const begun = new Promise<ServerResponse>((resolve) => {
      host.on('/open', (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).write('<p>a');
        resolve(response);
      });
    });
    const fetching = get(at('/open'), { signal: controller.signal });
    const closed = once(await begun, 'close');
    controller.abort(new Error('enough'));
    await expect(fetching).rejects.toThrow('enough');
    await closed;
  });

  test('of a waiting fetch leaves the others running', async () => {
    const open: ServerResponse[] = [];
    host.on('/held', (_request, response) => void open.push(response));
    const held = [1, 2, 3].map((n) => get(at(`/held?${n}`)));
    await until(() => open.length === 3);
    const controller = new AbortController();
    const waiting = get(at('/held?4'), { signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    for (const response of open) response.writeHead(200, { 'content-type': 'text/plain' }).end('ok');
    expect((await Promise.all(held)).map(({ text }) => text)).toEqual(['ok', 'ok', 'ok']);
    expect(host.requests).toHaveLength(3);
  });

  test('before the start sends no request', async () => {
    await expect(get(at('/held'), { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    expect(host.requests).toEqual([]);
  });
});

describe('a proxy of the environment', () => {
  /** Accepts every tunnel and answers itself; for TLS it only records the client's first bytes. */
  async function startProxy() {
    const heads: string[] = [];
    const hellos: Buffer[] = [];
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('data', (head) => {
        heads.push(head.toString().split('\r\n', 1)[0] ?? '');
        socket.write('HTTP/1.1 200 OK\r\n\r\n');
        socket.once('data', (data) => {
          hellos.push(data);
          if (data.toString('latin1').startsWith('GET ')) {
            socket.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 7\r\n\r\ntunnel!');
          } else socket.destroy();
        });
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    if (typeof address !== 'object' || !address) throw new Error('no port');
    return {
      heads,
      hellos,
      url: `http://127.0.0.1:${address.port}`,
      async close() {
        for (const socket of sockets) socket.destroy();
        await new Promise((resolve) => server.close(resolve));
      },
    };
  }

  let proxy: Awaited<ReturnType<typeof startProxy>>;
  beforeEach(async () => {
    proxy = await startProxy();
    vi.stubEnv('HTTP_PROXY', proxy.url);
    vi.stubEnv('HTTPS_PROXY', proxy.url);
  });
  afterEach(() => proxy.close());

  const inside = (...addresses: string[]): Web =>
    webWith({ network: { ...testNetwork, resolve: async () => addresses } });

  test('receives a checked address, and the host receives its name', async () => {
    const from = inside('2606:4700:4700::1111', '1.1.1.1');
    expect(await get('http://site.test/a', { from })).toMatchObject({ text: 'tunnel!' });
    expect(proxy.heads).toEqual(['CONNECT 1.1.1.1:80 HTTP/1.1']);
    expect(proxy.hellos[0]?.toString()).toMatch(/^GET \/a HTTP\/1.1\r\nhost: site.test\r\n/i);
  });

  test('an encrypted connection sends the name, to the checked address', async () => {
    const from = inside('2606:4700:4700::1111');
    expect(await problem('https://site.test:8443/a', { from })).toContain('could not be reached: ');
    expect(proxy.heads).toEqual(['CONNECT [2606:4700:4700::1111]:8443 HTTP/1.1']);
    expect(proxy.hellos[0]?.toString('latin1')).toContain('site.test');
  });

  test('receives no address that is not public', async () => {
    for (const address of ['10.0.0.1', '127.0.0.2', '::1', '169.254.169.254']) {
      expect(await problem('http://site.test/', { from: inside(address) })).toContain('public internet');
    }
    expect(await problem('http://localhost/')).toContain('public internet');
    expect(await problem('http://10.0.0.1/')).toContain('public internet');
    expect(proxy.heads).toEqual([]);
  });

  test.each(['site.test', '.test', '*'])('is bypassed if NO_PROXY is %s', async (names) => {
    vi.stubEnv('NO_PROXY', names);
    host.on('/direct', sends('direct', { 'content-type': 'text/plain' }));
    expect(await get(at('/direct'))).toMatchObject({ text: 'direct' });
    expect(proxy.heads).toEqual([]);
  });
});
