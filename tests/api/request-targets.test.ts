/** No spelling of a request target reaches an endpoint without the token. The built server and `nitro dev`: see e2e. */
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import endpoints from '#endpoints';
import { ServiceError } from '#server/errors/service-error.ts';
import { endpointOf } from '#utils/endpoint.ts';
import { publicPath } from '#utils/http/route-table.ts';
import { requestWithoutBody } from '#support/open-requests.ts';
import { requestsTo } from '#support/random-targets.ts';
import { rawUpgrade } from '#support/raw-request.ts';
import { startServer, type TestServer } from '#support/server.ts';

/** The handlers that requests have reached since the last test, such as `get /api/v1/healthz`. */
let reached: string[] = [];
let server: TestServer;
beforeAll(async () => {
  const recording = endpoints.map((entry) => ({
    ...entry,
    async load() {
      const { default: endpoint } = await entry.load();
      const run = () => {
        reached.push(`${entry.method} ${entry.route}`);
        return Promise.reject(new ServiceError('internal.error', 'reached'));
      };
      return { default: endpointOf({ definition: endpoint.definition, run }) };
    },
  }));
  server = await startServer({ endpoints: recording });
});
afterAll(() => server.close());
beforeEach(() => (reached = []));

const status = (answer: string): number => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);
const request = (method: string, target: string, headers = {}) =>
  requestWithoutBody(server.url, method, target, headers);
const bearer = () => ({ Authorization: `Bearer ${server.token}` });

describe('a malformed target', () => {
  it.each(['*', '*/api/v1/meta', '*x/api/v1/meta', '*?/api/v1/meta', 'x://h/api/v1/meta', '/api/v1/%zz'])(
    '%s is 400 with and without the token',
    async (target) => {
      for (const method of ['GET', 'POST', 'OPTIONS', 'HEAD']) {
        expect([method, status(await request(method, target))]).toEqual([method, 400]);
        expect([method, status(await request(method, target, bearer()))]).toEqual([method, 400]);
      }
      expect(await request('GET', target)).toContain('"code":40001,"msg":"Malformed URL"');
      expect(reached).toEqual([]);
    },
  );
});

it.each([
  ['/api', 404],
  ['/api%2Fv1%2Fmeta', 401],
  ['/api/v1/%6deta', 401],
  ['/%61pi/v1/meta', 401],
  ['http://elsewhere.test/api/v1/meta', 401],
  ['http://localhost', 404],
])('%s without the token is %i', async (target, expected) => {
  expect(status(await request('GET', target))).toBe(expected);
});

it('the absolute form reaches what its path names', async () => {
  await request('GET', 'http://localhost/api/v1/meta', bearer());
  await request('GET', 'http://localhost/api/v1/healthz');
  expect(reached).toEqual(['get /api/v1/meta', 'get /api/v1/healthz']);
});

it('any request that reaches an endpoint with the token is 401 without it', async () => {
  const routes = endpoints.map(({ route }) => publicPath(route));
  const seen = new Set<string>();
  for (const { method, target } of fc.sample(requestsTo(routes), { seed: 20, numRuns: 1_500 })) {
    const open = status(await request(method, target));
    expect([method, target, reached.filter((name) => name !== 'get /api/v1/healthz')]).toEqual([method, target, []]);
    reached = [];
    await request(method, target, bearer());
    const [name] = reached;
    reached = [];
    if (name === undefined || (method === 'GET' && name === 'get /api/v1/healthz')) continue;
    seen.add(name);
    expect([method, target, open]).toEqual([method, target, 401]);
  }
  // The targets are not all nonsense.
  expect(seen.size).toBeGreaterThan(20);
});

it('no upgrade opens without the token', async () => {
  let opened = 0;
  for (const { target } of fc.sample(requestsTo(['/api/v1/ws']), { seed: 21, numRuns: 500 })) {
    expect([target, await rawUpgrade(server.url, target)]).toEqual([
      target,
      expect.not.stringMatching(/^HTTP\/1\.1 101/),
    ]);
    if ((await rawUpgrade(server.url, target, bearer())).startsWith('HTTP/1.1 101')) opened += 1;
  }
  expect(opened).toBeGreaterThan(5);
});
