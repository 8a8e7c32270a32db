/** The configured services, first source of pages and only one of searches: requests and handling of replies. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { AccessTokenError } from '#server/account/tokens.ts';
import { noLogins } from '#support/no-logins.ts';
import { createLogger } from '#server/logging/log.ts';
import { createHttpClient, type HttpClient } from '#server/net/http-client.ts';
import { webUrl } from '#server/web/address.ts';
import { createWeb, type Web, type WebDeps } from '#server/web/web.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { sends, startWebHost, testNetwork, type WebHost } from '#support/web-host.ts';

let host: WebHost;
let client: HttpClient;
let clock: ManualClock;
let lines: string[];
beforeAll(async () => {
  host = await startWebHost();
  client = createHttpClient();
  host.on('/page', sends('from here', { 'content-type': 'text/plain' }));
});
afterAll(async () => {
  await client.close();
  await host.close();
});
beforeEach(() => {
  clock = manualClock();
  lines = [];
  host.requests.length = 0;
});

type Services = ReturnType<WebDeps['services']>;
const webWith = (services: Services, more: Partial<WebDeps> = {}): Web =>
  createWeb({
    services: () => services,
    fetch: client.fetch,
    network: testNetwork,
    logins: noLogins,
    userAgent: () => 'service-code/0',
    identityHeaders: () => ({}),
    clock,
    log: createLogger('debug', (line) => void lines.push(line)),
    ...more,
  });

const service = (path: string) => `http://127.0.0.1:${host.port}${path}`;
const pageUrl = () => `http://site.test:${host.port}/page`;
const never = new AbortController().signal;
const get = (services: Services, signal = never) =>
  webWith(services).fetchPage(webUrl(pageUrl()), { toolCallId: 'call_1', signal });
const search = (services: Services, signal = never, toolCallId = 'call_1') =>
  webWith(services).search('who', { toolCallId, signal });

const configured = (path: string) => ({
  baseUrl: service(path),
  apiKey: 'secret-key',
  customHeaders: { 'X-Team': 'blue', authorization: 'Basic no', accept: 'no', 'user-agent': 'theirs' },
});

describe('pages', () => {
  test('come from the service, which receives the address and its own key', async () => {
    host.on('/fetch', sends('# Title\n\ntext', { 'content-type': 'text/markdown' }));
    expect(await get({ fetch: configured('/fetch') })).toEqual({
      url: pageUrl(),
      verbatim: false,
      title: '',
      text: '# Title\n\ntext',
    });
    expect(host.requests).toMatchObject([
      {
        method: 'POST',
        url: '/fetch',
        body: JSON.stringify({ url: pageUrl() }),
        headers: {
          accept: 'text/markdown',
          authorization: 'Bearer secret-key',
          'content-type': 'application/json',
          'user-agent': 'theirs',
          'x-service-tool-call-id': 'call_1',
          'x-team': 'blue',
        },
      },
    ]);
  });

  test('a service without a key receives none', async () => {
    host.on('/fetch', sends('text'));
    await get({ fetch: { baseUrl: ` ${service('/fetch')} `, apiKey: ' ' } });
    expect(host.requests[0]?.headers).not.toHaveProperty('authorization');
    expect(host.requests[0]?.headers).toMatchObject({ 'user-agent': 'service-code/0' });
  });

  test.each<[string, Parameters<WebHost['on']>[1]]>([
    ['refuses', (_request, response) => void response.writeHead(401).end()],
    ['fails', (_request, response) => void response.writeHead(500).end()],
    ['is not there yet', (_request, response) => void response.writeHead(501).end()],
    ['has nothing', (_request, response) => void response.writeHead(204).end()],
    ['sends nothing', sends(' \n')],
    ['redirects', (_request, response) => void response.writeHead(307, { location: '/elsewhere' }).end()],
    ['breaks off', (_request, response) => void response.destroy()],
    ['sends too much', sends(Buffer.alloc(10 * 1024 * 1024 + 1, 'x'))],
  ])('a service that %s is skipped', async (_what, answer) => {
    host.on('/fetch', answer);
    expect(await get({ fetch: configured('/fetch') })).toMatchObject({ verbatim: true, text: 'from here' });
    expect(host.requests.map(({ url }) => url)).toEqual(['/fetch', '/page']);
    const own = host.requests[1]?.headers ?? {};
    for (const name of ['authorization', 'x-team', 'x-service-tool-call-id']) expect(own).not.toHaveProperty(name);
    expect(lines.join('')).toContain('the fetch service failed');
    expect(lines.join('')).not.toContain('secret-key');
  });

  test.each(['http://127.0.0.1:1/', 'not an address', 'http://[', 'ftp://example.com/'])(
    'a service at %s is skipped, and one without an address counts as none',
    async (baseUrl) => {
      expect(await get({ fetch: { baseUrl, apiKey: 'k' } })).toMatchObject({ text: 'from here' });
      expect(await get({ fetch: { apiKey: 'k' } })).toMatchObject({ text: 'from here' });
      expect(await get({ fetch: { baseUrl: ' ' } })).toMatchObject({ text: 'from here' });
    },
  );

  test('a service with headers that cannot be sent is skipped', async () => {
    const customHeaders = { 'no header': 'x' };
    expect(await get({ fetch: { baseUrl: service('/fetch'), customHeaders } })).toMatchObject({ text: 'from here' });
    expect(host.requests).toHaveLength(1);
  });

  test('a service that does not answer in time is skipped', async () => {
    const asked = new Promise<void>((resolve) => host.on('/fetch', () => resolve()));
    const fetching = get({ fetch: configured('/fetch') });
    await asked;
    clock.advance(30_000);
    expect(await fetching).toMatchObject({ text: 'from here' });
  });

  test('an abort is not a failure: nothing is fetched from here', async () => {
    const controller = new AbortController();
    const asked = new Promise<void>((resolve) => host.on('/fetch', () => resolve()));
    const fetching = get({ fetch: configured('/fetch') }, controller.signal);
    await asked;
    controller.abort(new Error('enough'));
    await expect(fetching).rejects.toThrow('enough');
    expect(host.requests).toHaveLength(1);
  });
});

describe('searches', () => {
  const found = { title: 'T', url: 'https://a.example/', snippet: 'S', date: '2020', site_name: 'A' };
  const json = (value: unknown) => sends(JSON.stringify(value), { 'content-type': 'application/json' });

  test('require a service with an address', () => {
    expect(webWith({}).canSearch()).toBe(false);
    expect(webWith({ search: { apiKey: 'k' } }).canSearch()).toBe(false);
    expect(webWith({ search: { baseUrl: '  ' } }).canSearch()).toBe(false);
    expect(webWith({ fetch: configured('/fetch') }).canSearch()).toBe(false);
    expect(webWith({ search: { baseUrl: service('/search') } }).canSearch()).toBe(true);
  });

  test('send it the text, and accept results without optional members', async () => {
    const rest = { title: '', snippet: '', date: '', site_name: '' };
    host.on('/search', json({ search_results: [found, { url: 'u' }, { ...found, date: null, extra: 1 }], more: 1 }));
    expect(await search({ search: configured('/search') })).toEqual([
      found,
      { url: 'u', ...rest },
      { ...found, date: '' },
    ]);
    expect(host.requests).toMatchObject([
      {
        method: 'POST',
        body: JSON.stringify({ text_query: 'who' }),
        headers: { authorization: 'Bearer secret-key', 'x-service-tool-call-id': 'call_1' },
      },
    ]);
  });

  test('a call id with characters that headers cannot contain', async () => {
    host.on('/search', json({ search_results: [] }));
    expect(await search({ search: configured('/search') }, never, 'call\r\nx: y 1 ü')).toEqual([]);
    expect(host.requests[0]?.headers).toMatchObject({ 'x-service-tool-call-id': 'callx: y 1' });
    expect(host.requests[0]?.headers).not.toHaveProperty('x');
  });

  test.each<[string, Parameters<WebHost['on']>[1], string | RegExp]>([
    ['401', (_request, response) => void response.writeHead(401).end(), 'refused its credentials (status 401)'],
    ['403', (_request, response) => void response.writeHead(403).end(), 'refused its credentials (status 403)'],
    ['500', (_request, response) => void response.writeHead(500).end(), 'answered with status 500'],
    ['a redirect', (_request, response) => void response.writeHead(302, { location: '/page' }).end(), /status 302$/],
    ['a broken answer', (_request, response) => void response.destroy(), /^could not be reached: /],
    ['no JSON', sends('<html>'), 'sent no list of results'],
    ['another list', json({ results: [] }), 'sent no list of results'],
    ['a result without an address', json({ search_results: [{ title: 'T' }] }), 'sent no list of results'],
    ['too much', sends(Buffer.alloc(1024 * 1024 + 1, ' ')), 'sent more than 1048576 bytes'],
  ])('%s', async (_what, answer, message) => {
    host.on('/search', answer);
    await expect(search({ search: configured('/search') })).rejects.toThrow(message);
    expect(host.requests).toHaveLength(1);
  });

  test('a service that cannot be reached, or is no longer configured', async () => {
    await expect(search({ search: { baseUrl: 'http://127.0.0.1:1/' } })).rejects.toThrow('could not be reached: ');
    await expect(search({})).rejects.toThrow('is not configured');
  });

  test('time-out and aborts', async () => {
    const asked = () => new Promise<void>((resolve) => host.on('/search', () => resolve()));
    let begun = asked();
    const slow = search({ search: configured('/search') });
    const failing = slow.catch((error: unknown) => String(error));
    await begun;
    clock.advance(30_000);
    expect(await failing).toContain('timed out after 30 s');
    const controller = new AbortController();
    begun = asked();
    const aborted = search({ search: configured('/search') }, controller.signal);
    await begun;
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect(clock.waits()).toEqual([]);
  });
});

describe('a service with a login', () => {
  const entry = (path: string) => ({ baseUrl: service(path), oauth: { storage: 'file' as const, key: 'oauth/k' } });
  const results = JSON.stringify({ search_results: [{ title: 'A', url: 'http://a.test/', snippet: 's' }] });

  /** A login whose first token is refused. */
  function webWithLogin(services: Services) {
    const used: string[] = [];
    const logins: WebDeps['logins'] = {
      async authorized({ key }, send, { discard } = {}) {
        const reply = await send(`${key} one`);
        if (reply.status !== 401) return reply;
        await discard?.(reply);
        return send(`${key} two`);
      },
      noteUse: (address) => void used.push(address),
    };
    return { used, web: webWith(services, { logins, identityHeaders: () => ({ 'X-Service-Device-Id': 'device' }) }) };
  }

  test('gets a token, the identity of this machine, and a second request after a 401', async () => {
    host.on('/login-search', (request, response) => {
      if (request.headers.authorization === 'Bearer oauth/k two') response.end(results);
      else response.writeHead(401).end('x');
    });
    const { web, used } = webWithLogin({ search: entry('/login-search') });
    expect(await web.search('who', { toolCallId: 'call_1', signal: never })).toHaveLength(1);
    expect(host.requests).toMatchObject(
      ['one', 'two'].map((word) => ({
        body: JSON.stringify({ text_query: 'who' }),
        headers: {
          authorization: `Bearer oauth/k ${word}`,
          'x-service-device-id': 'device',
          'x-service-tool-call-id': 'call_1',
        },
      })),
    );
    expect(used).toEqual([service('/login-search')]);
  });

  test('uses its key if it has one', async () => {
    host.on('/login-search', sends(results));
    const { web } = webWithLogin({ search: { ...entry('/login-search'), apiKey: 'secret-key' } });
    await web.search('who', { toolCallId: 'call_1', signal: never });
    expect(host.requests[0]?.headers).toMatchObject({
      authorization: 'Bearer secret-key',
      'user-agent': 'service-code/0',
    });
    expect(host.requests[0]?.headers).not.toHaveProperty('x-service-device-id');
  });

  test('reports a missing login', async () => {
    const missing = () => Promise.reject(new AccessTokenError('missing', 'log in first'));
    const web = webWith({ search: entry('/login-search') }, { logins: { authorized: missing, noteUse: () => {} } });
    await expect(web.search('who', { toolCallId: 'call_1', signal: never })).rejects.toThrow(
      'cannot be used: log in first',
    );
    expect(host.requests).toEqual([]);
  });
});
