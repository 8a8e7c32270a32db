import { beforeEach, describe, expect, it } from 'vitest';
import { createBan } from '#server/auth/ban.ts';
import { createCredentials } from '#server/auth/credentials.ts';
import { createGuard } from '#server/auth/guard.ts';
import type { GuardedRequest } from '#server/auth/guard.ts';
import { createHostCheck, isLoopbackBind } from '#server/auth/hosts.ts';
import { isOwnOrigin, originAllowed } from '#server/auth/origins.ts';
import { errorEntry } from '#server/errors/catalogue.ts';
import { parseRequestTarget } from '#utils/http/request-target.ts';

const TOKEN = 'secret-token';
const at = (path: string) => parseRequestTarget(path);
const facts: GuardedRequest = {
  method: 'GET',
  target: at('/api/v1/meta'),
  isServed: false,
  host: '127.0.0.1:58627',
  scheme: 'http',
  origin: undefined,
  fetchSite: undefined,
  authorization: `Bearer ${TOKEN}`,
  requestedHeaders: undefined,
  remoteAddress: '10.0.0.9',
};

function setup(now?: () => number) {
  return createGuard({
    ban: now && createBan(now),
    hostAllowed: createHostCheck({ bindHost: '127.0.0.1', allowedHosts: [] }),
    listedOrigins: new Set(['https://listed.test']),
    credentials: createCredentials({ current: async () => TOKEN }, 'pass word'),
  });
}
const status = async (guard: ReturnType<typeof setup>, change: Partial<GuardedRequest>) => {
  const verdict = await guard.request({ ...facts, ...change });
  const { refusal } = verdict;
  return refusal ? (refusal.status ?? errorEntry(refusal.error).status) : verdict.outcome;
};

describe('token', () => {
  it.each([
    [`Bearer ${TOKEN}`, 'pass'],
    ['Bearer pass word', 'pass'],
    [`bearer ${TOKEN}`, 401],
    [`Bearer  ${TOKEN}`, 401],
    [`Bearer ${TOKEN}x`, 401],
    ['Bearer ', 401],
    [`Basic ${TOKEN}`, 401],
    [undefined, 401],
  ])('%s', async (authorization, expected) => expect(await status(setup(), { authorization })).toBe(expected));

  it.each([
    ['GET', '/api/v1/healthz', 'health'],
    ['HEAD', '/api/v1/healthz', 401],
    ['POST', '/api/v1/healthz', 401],
    ['GET', '/api/v1/healthz/', 401],
    ['OPTIONS', '/api/v1/meta', 'open'],
    ['GET', '/openapi.json', 401],
    ['GET', '/asyncapi.json', 401],
    ['GET', '/', 'open'],
    ['HEAD', '/', 'open'],
    ['POST', '/', 'open'],
    ['GET', '/api', 'open'],
    ['GET', '/apix/y', 'open'],
    ['GET', '/api/', 401],
    ['GET', '/api%2Fv1%2Fmeta', 401],
    ['GET', '/api%2Fv1%2Fhealthz', 401],
    ['GET', '/%61pi/v1/%68ealthz', 'health'],
    ['GET', '/api/v1%2Fhealthz', 401],
    ['GET', '/%61pi/v1/meta', 401],
    ['POST', '/openapi.json', 401],
  ])('without one: %s %s', async (method, path, expected) => {
    expect(await status(setup(), { authorization: undefined, method, target: at(path) })).toBe(expected);
  });

  it('is needed wherever a handler is; without one an OPTIONS request reaches none', async () => {
    const request = { authorization: undefined, target: at('/elsewhere'), isServed: true };
    for (const method of ['GET', 'HEAD', 'POST', 'DELETE', 'PROPFIND']) {
      expect([method, await status(setup(), { ...request, method })]).toEqual([method, 401]);
    }
    const options = { ...request, method: 'OPTIONS' };
    expect(await status(setup(), options)).toBe('open');
    expect(await status(setup(), { ...options, authorization: 'Bearer wrong' })).toBe('open');
    expect(await status(setup(), { ...options, authorization: facts.authorization })).toBe('pass');
    expect(await status(setup(), { ...options, origin: 'http://localhost' })).toBe('preflight');
    expect(await status(setup(), { ...request, authorization: facts.authorization })).toBe('pass');
  });

  it('is guessed by OPTIONS no more often than by other methods', async () => {
    const guard = setup(() => 0);
    const options = { method: 'OPTIONS', isServed: true };
    for (let guess = 0; guess < 10; guess += 1) {
      expect(await status(guard, { ...options, authorization: `Bearer ${guess}` })).toBe('open');
    }
    expect(await status(guard, options)).toBe(429);
  });

  it('is needed if either form of the target, decoded or by segments, is below the API', async () => {
    const request = { authorization: undefined };
    expect(await status(setup(), { ...request, target: { decoded: '/x', segments: ['api', 'x'] } })).toBe(401);
    expect(await status(setup(), { ...request, target: { decoded: '/api/x', segments: ['x'] } })).toBe(401);
    expect(await status(setup(), { ...request, target: { decoded: '/x', segments: ['x', 'api'] } })).toBe('open');
  });

  it('marks a request as authorized where one was needed and valid', async () => {
    expect(await setup().request(facts)).toEqual({ outcome: 'pass', headers: {}, authorized: true });
    expect(await setup().request({ ...facts, target: at('/') })).toEqual({ outcome: 'open', headers: {} });
  });

  it('is never an empty text, not even where the token is one', async () => {
    const credentials = createCredentials({ current: async () => '' }, '');
    expect(await credentials.accepts('')).toBe(false);
  });

  it('of a malformed target is not checked: the target is refused', async () => {
    expect(await status(setup(), { target: undefined })).toBe(400);
    expect(await status(setup(), { target: undefined, method: 'OPTIONS', origin: 'http://localhost' })).toBe(400);
  });
});

describe('ban', () => {
  it('starts with the tenth failure of a window and lasts 60 s', async () => {
    let now = 1000;
    const guard = setup(() => now);
    const fail = () => status(guard, { authorization: undefined });
    for (let failures = 0; failures < 9; failures += 1) expect(await fail()).toBe(401);
    expect(await status(guard, {})).toBe('pass');
    now += 59_000;
    expect(await fail()).toBe(401);
    expect(await status(guard, {})).toBe(429);
    expect(await status(guard, { target: at('/api/v1/healthz'), host: 'evil.test' })).toBe(429);
    expect(await guard.upgrade({ ...facts, protocols: undefined })).toBe(429);
    expect(await status(guard, { remoteAddress: '10.0.0.8' })).toBe('pass');
    now += 59_999;
    expect(await status(guard, {})).toBe(429);
    now += 1;
    expect(await status(guard, {})).toBe('pass');
  });

  it('counts again from one after a window', async () => {
    let now = 0;
    const guard = setup(() => now);
    for (let failures = 0; failures < 9; failures += 1) await status(guard, { authorization: undefined });
    now = 60_000;
    await status(guard, { authorization: undefined });
    expect(await status(guard, {})).toBe('pass');
  });

  it('counts failed upgrades', async () => {
    const guard = setup(() => 0);
    const upgrade = { ...facts, authorization: undefined, protocols: undefined };
    for (let failures = 0; failures < 10; failures += 1) expect(await guard.upgrade(upgrade)).toBe(401);
    expect(await guard.upgrade(upgrade)).toBe(429);
  });

  it('is named in the refusal, as are a missing token and a malformed target', async () => {
    const guard = setup(() => 0);
    const refusal = async (change: Partial<GuardedRequest>) => (await guard.request({ ...facts, ...change })).refusal;
    expect(await refusal({ target: undefined })).toEqual({
      error: 'validation.failed',
      message: 'Malformed URL',
      status: 400,
    });
    const unauthorized = { error: 'auth.unauthorized', message: 'Unauthorized' };
    for (let failures = 0; failures < 10; failures += 1) {
      expect(await refusal({ authorization: undefined })).toEqual(unauthorized);
    }
    expect(await refusal({})).toEqual({ error: 'rate.limited', message: 'Too many failed auth attempts' });
  });

  it('applies to requests that were admitted before it', async () => {
    const guard = setup(() => 0);
    const guesses = Array.from({ length: 100 }, (_, n) => (n === 50 ? facts.authorization : `Bearer ${n}`));
    const outcomes = await Promise.all(guesses.map((authorization) => status(guard, { authorization })));
    expect(outcomes).toEqual(guesses.map((_, n) => (n < 10 ? 401 : 429)));
    const upgrading = setup(() => 0);
    const upgrades = guesses.map((authorization) =>
      upgrading.upgrade({ ...facts, authorization, protocols: undefined }),
    );
    expect(await Promise.all(upgrades)).toEqual(outcomes);
  });

  it('stops none of many requests with the right token, next to failures of the same address', async () => {
    const guard = setup(() => 0);
    for (let failures = 0; failures < 9; failures += 1) await status(guard, { authorization: undefined });
    const outcomes = await Promise.all(Array.from({ length: 30 }, () => status(guard, {})));
    expect(new Set(outcomes)).toEqual(new Set(['pass']));
  });

  it.each([
    ['2001:db8:1:2::1', '2001:db8:1:2:ffff:1:2:3', true],
    ['2001:DB8:1:2::1', '2001:db8:1:2::2', true],
    ['2001:db8::1', '2001:db8:0:0:1::', true],
    ['2001:db8::1', '2001:db8::1:0:0:0:1', false],
    ['0:0:0:a::', '::a:1:2:3:4', true],
    // Zones, which a relay may invent.
    ['fe80::1%a:b:c:d:e:f:g:h:i', 'fe80::2%eth0', true],
    ['1:23::1', '12:3::1', false],
    ['1:2:3:4:5:6:7:8', '1:2:3:4::', true],
    ['1:2:3:4:5:6:7:8', '1:2:3::4:5', false],
    ['::1.2.3.4', '::1', true],
    ['fe80::1%eth0', 'fe80::2%eth1', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['::1', '::2', true],
    ['::1', '1::', false],
    ['1::1.2.3.4', '1::5', true],
    ['::ffff:10.0.0.1', '10.0.0.1', true],
    ['::ffff:10.0.0.1', '::ffff:10.0.0.2', false],
    ['10.0.0.1', '10.0.0.2', false],
  ])('of %s holds for %s: %s', async (failing, other, expected) => {
    const guard = setup(() => 0);
    for (let failures = 0; failures < 10; failures += 1) {
      await status(guard, { authorization: undefined, remoteAddress: failing });
    }
    expect(await status(guard, { remoteAddress: other })).toBe(expected ? 429 : 'pass');
  });

  it('is forgotten, oldest first, when more than 10,000 addresses have failed', () => {
    const ban = createBan(() => 0);
    const addresses = Array.from({ length: 10_001 }, (_, n) => `10.0.${n >> 8}.${n & 255}`);
    const [oldest = '', second = '', ...others] = addresses;
    for (let failures = 0; failures < 10; failures += 1) for (const address of [oldest, second]) ban.fail(address);
    for (const address of others.slice(1)) ban.fail(address);
    expect([oldest, second].map(ban.banned)).toEqual([true, true]);
    ban.fail(others[0] ?? '');
    expect([oldest, second].map(ban.banned)).toEqual([false, true]);
  });

  it('comes before every other check of an upgrade', async () => {
    const guard = setup(() => 0);
    const upgrade = { ...facts, authorization: undefined, protocols: undefined };
    for (let failures = 0; failures < 10; failures += 1) await guard.upgrade(upgrade);
    expect(await guard.upgrade({ ...upgrade, host: 'evil.test' })).toBe(429);
  });

  it('ignores a peer without an address, such as one of a closed connection', async () => {
    const unexpected = () => expect.unreachable();
    const guard = createGuard({
      ban: { banned: unexpected, fail: unexpected },
      hostAllowed: () => true,
      listedOrigins: new Set(),
      credentials: createCredentials({ current: async () => TOKEN }, undefined),
    });
    expect(await status(guard, { remoteAddress: undefined, authorization: undefined })).toBe(401);
    expect(await status(guard, { remoteAddress: undefined })).toBe('pass');
  });

  it('carries the CORS headers of an allowed origin', async () => {
    const guard = setup(() => 0);
    for (let failures = 0; failures < 10; failures += 1) await status(guard, { authorization: undefined });
    const verdict = await guard.request({ ...facts, origin: 'http://localhost:1' });
    expect(verdict.headers).toMatchObject({ 'Access-Control-Allow-Origin': 'http://localhost:1', Vary: 'Origin' });
  });
});

describe('host', () => {
  const allowedHosts = ['one.test:80', '.many.test', ' Two.test. ', ' .dots.test. ', '.', '..', ''];
  it.each([
    ['localhost:1', true],
    ['a.localhost', true],
    ['10.1.1.1:99', true],
    ['[::1]:80', true],
    ['BOX.lan:1', true],
    ['one.test', true],
    ['sub.one.test', false],
    ['many.test', true],
    ['a.b.many.test:8', true],
    ['notmany.test', false],
    ['evil.test', false],
    ['localhost.evil.test', false],
    ['1.2.3.4.evil.test', false],
    ['', false],
    [undefined, false],
    ['[::1]', true],
    ['::1', true],
    ['[::ffff:127.0.0.1]:1', true],
    ['10.1.1.1', true],
    ['my-box_1.localhost', true],
    // A name may end in one dot, in the header and in an entry.
    ['localhost.', true],
    ['a.localhost.:80', true],
    ['one.test.', true],
    ['BOX.lan.:1', true],
    ['many.test.', true],
    ['a.b.many.test.:8', true],
    ['two.test', true],
    ['nottwo.test', false],
    ['wo.test', false],
    ['two.test.:80', true],
    ['a.dots.test', true],
    ['dots.test.', true],
    ['127.0.0.1.', true],
    ['evil.test.', false],
    ['notmany.test.', false],
    ['localhost.evil.test.', false],
    ['localhost..', false],
    ['a..', false],
    ['many.test..', false],
    ['.', false],
    ['..', false],
    ['.:80', false],
    ['localhost.:', false],
    ['localhost:80.', false],
    ['[::1].', false],
    ['::1.', false],
    // Only a port follows a bracket or a name.
    ['[::1].evil.test', false],
    ['[::1]evil.test', false],
    ['[::1]:', false],
    ['[::1]:80x', false],
    ['[::1', false],
    ['[]', false],
    ['[evil.test]', false],
    ['[127.0.0.1]', false],
    ['::1]', false],
    ['localhost:', false],
    ['localhost:1:2', false],
    ['localhost:80evil.test', false],
    ['evil.test/.localhost', false],
    ['evil.test#.localhost', false],
    ['evil.test@a.localhost', false],
    ['evil.test\\.localhost', false],
    ['evil.test, a.localhost', false],
    ['%6cocalhost', false],
    ['10.1.1.1:80:1', false],
  ])('%s', (host, expected) => {
    expect(createHostCheck({ bindHost: 'box.lan', allowedHosts })(host)).toBe(expected);
  });

  it('names the host and the remedy', async () => {
    const verdict = await setup().request({ ...facts, host: 'evil.test' });
    expect(verdict.refusal).toEqual({
      error: 'host.not_allowed',
      message:
        'Invalid Host header: evil.test; allow this host with SERVICE_CODE_ALLOWED_HOSTS=evil.test or --allowed-host evil.test.',
    });
    const missing = await setup().request({ ...facts, host: undefined });
    expect(missing.refusal?.message).toContain('<missing>');
  });

  it.each([
    ['127.0.0.1', true],
    ['127.9.9.9', true],
    ['localhost', true],
    ['::1', true],
    ['0.0.0.0', false],
    ['::', false],
    ['127.evil.test', false],
    ['', false],
    ['evil.test/127.0.0.1', false],
    // The resolver decides about its address.
    ['localhost.', false],
    ['127.0.0.1.', false],
  ])('bind to %s is loopback: %s', (host, expected) => expect(isLoopbackBind(host)).toBe(expected));
});

describe('origin', () => {
  const listed = new Set(['https://listed.test']);
  it('that is no URL is allowed where it is listed literally', () => {
    for (const origin of ['null', 'x']) expect(originAllowed(origin, 'a.test', new Set([origin]))).toBe(true);
  });

  it.each([
    ['null', 'a.test', false],
    ['null', 'localhost', false],
    ['x', 'x', false],
    ['', '', false],
    ['localhost:3000', 'localhost', false],
    ['file:///etc', 'localhost', false],
    ['data:text/html,x', 'localhost', false],
    ['http://localhost:3', '[::1].evil.test', false],
    ['http://localhost:3', undefined, false],
    ['https://[::1]:3', '[::1]:9', true],
    ['tauri://localhost', '127.0.0.1:1', true],
    ['https://a.test:9', 'a.test:1', true],
    ['http://localhost:3', '127.0.0.1:5', true],
    ['http://[::1]:3', 'x.localhost', true],
    ['https://listed.test', 'a.test', true],
    ['https://listed.test:1', 'a.test', false],
    ['https://evil.test', '127.0.0.1', false],
    ['http://127.0.0.1', 'a.test', false],
    ['http://localhost.:3', '127.0.0.1:5', true],
    ['https://a.test.', 'a.test:1', true],
    ['https://evil.test.', '127.0.0.1', false],
  ])('%s at %s', (origin, host, expected) => expect(originAllowed(origin, host, listed)).toBe(expected));

  it('ends a preflight, with CORS headers only for allowed origins', async () => {
    const preflight = { method: 'OPTIONS', authorization: undefined };
    const allowed = await setup().request({
      ...facts,
      ...preflight,
      origin: 'https://listed.test',
      requestedHeaders: 'X-A',
    });
    expect(allowed.outcome).toBe('preflight');
    expect(allowed.headers['Access-Control-Allow-Headers']).toBe('X-A');
    const foreign = await setup().request({ ...facts, ...preflight, origin: 'https://evil.test' });
    expect(foreign).toEqual({ outcome: 'preflight', headers: {} });
  });

  it('refuses a foreign upgrade before its token', async () => {
    expect(await setup().upgrade({ ...facts, origin: 'https://evil.test', protocols: undefined })).toBe(403);
  });
});

describe('upgrade token', () => {
  it.each([
    [`Bearer ${TOKEN}`, undefined, 'pass'],
    [undefined, `x, service-code.bearer.${TOKEN}`, 'pass'],
    [undefined, `service-code.bearer.bad, service-code.bearer.${TOKEN}`, 401],
    [undefined, 'service-code.bearer.', 401],
    ['Bearer bad', `service-code.bearer.${TOKEN}`, 401],
    ['Basic x', `service-code.bearer.${TOKEN}`, 'pass'],
    // A header without a token leaves the decision to the subprotocol.
    ['Bearer ', `service-code.bearer.${TOKEN}`, 'pass'],
    ['Bearer  bad', `service-code.bearer.${TOKEN}`, 'pass'],
    [undefined, undefined, 401],
  ])('%s / %s', async (authorization, protocols, expected) => {
    expect(await setup().upgrade({ ...facts, authorization, protocols })).toBe(expected);
  });
});

describe('without credentials', () => {
  const listed = new Set(['https://listed.test', 'null-not-meant']);
  it.each([
    ['http://127.0.0.1:58627', '127.0.0.1:58627', true],
    ['http://localhost:58627', 'localhost:58627', true],
    ['http://LOCALHOST:58627', 'localhost:58627', true],
    ['http://localhost', 'localhost:80', true],
    ['http://[::1]:5', '[::1]:5', true],
    ['https://listed.test', '127.0.0.1:58627', true],
    ['null', '127.0.0.1:58627', false],
    ['', '127.0.0.1:58627', false],
    ['file://', '127.0.0.1:58627', false],
    ['http://127.0.0.1:3000', '127.0.0.1:58627', false],
    ['http://127.0.0.1', '127.0.0.1:58627', false],
    ['https://127.0.0.1:58627', '127.0.0.1:58627', false],
    ['http://localhost:58627', '127.0.0.1:58627', false],
    ['http://a.localhost:58627', 'localhost:58627', false],
    ['http://evil.test', '127.0.0.1:58627', false],
    ['http://127.0.0.1:58627.evil.test', '127.0.0.1:58627', false],
    ['chrome-extension://abc', '127.0.0.1:58627', false],
    ['http://127.0.0.1:58627', undefined, false],
    ['http://evil.test', 'x@evil.test', false],
    ['http://localhost.:58627', 'localhost.:58627', true],
    ['http://localhost:58627', 'localhost.:58627', false],
    ['http://evil.test.', '127.0.0.1:58627', false],
  ])('%s at %s', (origin, host, expected) =>
    expect(isOwnOrigin(origin, { scheme: 'http', host }, listed)).toBe(expected),
  );

  it.each([
    ['https://dev.test', 'dev.test', true],
    ['https://dev.test:443', 'dev.test', true],
    ['http://dev.test', 'dev.test', false],
    ['https://dev.test', 'dev.test:8443', false],
  ])('%s at %s over TLS', (origin, host, expected) =>
    expect(isOwnOrigin(origin, { scheme: 'https', host }, listed)).toBe(expected),
  );

  const openGuard = () =>
    createGuard({
      ban: undefined,
      hostAllowed: createHostCheck({ bindHost: '127.0.0.1', allowedHosts: [] }),
      listedOrigins: new Set(['https://listed.test']),
      credentials: undefined,
    });
  let guard: ReturnType<typeof openGuard>;
  beforeEach(() => void (guard = openGuard()));

  it.each(['null', 'https://evil.test', 'http://127.0.0.1:3000'])(
    'refuses %s for every method and path',
    async (origin) => {
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        for (const path of ['/api/v1/shutdown', '/api/v1/healthz', '/', '/assets/x.js']) {
          expect(await guard.request({ ...facts, method, target: at(path), origin })).toEqual({
            outcome: 'refused',
            headers: {},
            refusal: { error: 'host.not_allowed', message: `Origin not allowed: ${origin}` },
          });
        }
      }
      expect(await guard.upgrade({ ...facts, origin, protocols: undefined })).toBe(403);
    },
  );

  it.each(['cross-site', 'same-site'])(
    'refuses requests without an origin that a page of another site causes (%s)',
    async (fetchSite) => {
      for (const path of ['/api/v1/meta', '/openapi.json', '/api/v1/nope', '/%61pi/v1/meta']) {
        expect(await guard.request({ ...facts, target: at(path), fetchSite })).toEqual({
          outcome: 'refused',
          headers: {},
          refusal: { error: 'host.not_allowed', message: 'Request from another site not allowed' },
        });
      }
      expect((await guard.request({ ...facts, target: at('/x'), isServed: true, fetchSite })).outcome).toBe('refused');
      expect(await guard.upgrade({ ...facts, fetchSite, protocols: undefined })).toBe(403);
      // Only assets and the health check need no token, so that links to the page open from any site.
      for (const path of ['/', '/assets/x.js', '/s/session', '/api/v1/healthz']) {
        expect(['open', 'health']).toContain((await guard.request({ ...facts, target: at(path), fetchSite })).outcome);
      }
      // The origin is its own, although the request was redirected by another site.
      expect((await guard.request({ ...facts, fetchSite, origin: 'http://127.0.0.1:58627' })).outcome).toBe('refused');
      const listedOrigin = { fetchSite, origin: 'https://listed.test' };
      expect((await guard.request({ ...facts, ...listedOrigin })).outcome).toBe('pass');
      expect(await guard.upgrade({ ...facts, ...listedOrigin, protocols: undefined })).toBe('pass');
    },
  );

  it.each(['same-origin', 'none'])('serves requests of its own page and of the user (%s)', async (fetchSite) => {
    expect((await guard.request({ ...facts, fetchSite })).outcome).toBe('pass');
    expect(await guard.upgrade({ ...facts, fetchSite, protocols: undefined })).toBe('pass');
  });

  it('does not apply to a server with authentication', async () => {
    for (const fetchSite of ['cross-site', 'same-site']) {
      expect((await setup().request({ ...facts, fetchSite })).outcome).toBe('pass');
      expect(await setup().upgrade({ ...facts, fetchSite, protocols: undefined })).toBe('pass');
    }
  });

  it('passes OPTIONS requests to handlers, as there is no token to miss', async () => {
    const options = { ...facts, method: 'OPTIONS', authorization: undefined };
    expect((await guard.request({ ...options, isServed: true })).outcome).toBe('pass');
    expect((await guard.request(options)).outcome).toBe('open');
  });

  it('serves its own page, listed origins and who is no browser', async () => {
    for (const origin of [undefined, 'http://127.0.0.1:58627', 'https://listed.test']) {
      const request = { ...facts, authorization: undefined, origin };
      const verdict = await guard.request(request);
      expect(verdict.outcome).toBe('pass');
      expect(verdict).not.toHaveProperty('authorized');
      expect(await guard.upgrade({ ...request, protocols: undefined })).toBe('pass');
    }
  });
});
