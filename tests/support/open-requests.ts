/** Finds requests that a server answers without the token although they require it, over raw sockets. */
import * as fc from 'fast-check';
import { publicPath, type EndpointEntry } from '#utils/http/route-table.ts';
import { until } from './patience.ts';
import { rawExchange, rawUpgrade } from './raw-request.ts';
import { pathsOf, requestsTo } from './random-targets.ts';

/** Sends a request line verbatim; resolves to the whole answer. */
export function requestWithoutBody(
  url: string,
  method: string,
  target: string,
  headers: Record<string, string> = {},
): Promise<string> {
  const lines = Object.entries({ Host: 'localhost', Connection: 'close', ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return rawExchange(url, `${method} ${target} HTTP/1.1\r\n${head}\r\n`, () => false);
}

/** The answer without its id and time; a "no route" answer also without the target that it repeats. */
const comparable = (answer: string) =>
  answer
    .replaceAll(/^(?:date|x-request-id):.*$|"request_id":"[^"]*"/gim, '')
    .replace(/^content-length:.*$([^]*)"msg":"Route (?:[^"\\]|\\.)* not found"/im, '$1"msg":"Route not found"');

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1]);

/** Whether the request would stop the server. */
const stops = (target: string) =>
  /shutdown/i.test(
    target.replaceAll(/%([0-7][0-9a-f])/gi, (_, code: string) => String.fromCharCode(parseInt(code, 16))),
  );

/** Targets that match no endpoint in any method: the page, a missing asset, targets that parsers refuse. */
const ENDPOINTLESS = ['/nowhere', '/nowhere.js', '/api', '/%zz', '*', 'a+b.c-d:///'];

export interface OpenRequests {
  /** Requests and upgrades that reached an endpoint without the token that it requires. */
  open: string[];
  /** How many requests were answered differently with the token. */
  guarded: number;
  /** How many upgrades succeeded only with the token. */
  upgrades: number;
}

/**
 * Sends a plain request to each endpoint, and `count` random requests and upgrades, each without the token and with it.
 * Without it every answer must be 401, the health check's, or one that a target without an endpoint gets; if the answer
 * differs with the token, it must be 401. A shutdown is sent without the token only; a server that obeyed it would
 * answer no further request. A dev server answers 503 while it has no worker; such a request is repeated.
 */
export async function openRequests(
  url: string,
  token: string,
  endpoints: readonly Pick<EndpointEntry, 'method' | 'route'>[],
  count: number,
): Promise<OpenRequests> {
  const bearer = { Authorization: `Bearer ${token}` };
  const found: OpenRequests = { open: [], guarded: 0, upgrades: 0 };
  const harmless = new Map<string, Set<string>>();

  const send = (method: string, target: string, headers?: Record<string, string>) =>
    until(async () => {
      const answer = await requestWithoutBody(url, method, target, headers);
      return statusOf(answer) !== 503 && comparable(answer);
    }, `an answer to ${method} ${target}`);

  /** Answers of a method that are allowed without a token. */
  async function harmlessOf(method: string): Promise<Set<string>> {
    const known = harmless.get(method);
    if (known) return known;
    const targets = method === 'GET' ? [...ENDPOINTLESS, '/api/v1/healthz'] : ENDPOINTLESS;
    const answers = new Set(await Promise.all(targets.map((target) => send(method, target))));
    harmless.set(method, answers);
    return answers;
  }

  const routes = endpoints.map(({ route }) => publicPath(route));
  const plain = endpoints.map(({ method, route }) =>
    fc.record({ method: fc.constant(method.toUpperCase()), target: pathsOf(publicPath(route)) }),
  );
  const requests = [
    ...fc.sample(fc.tuple(...plain), { seed: 22, numRuns: 1 }).flat(),
    ...fc.sample(requestsTo(routes), { seed: 22, numRuns: count }),
  ];
  for (const { method, target } of requests) {
    const without = await send(method, target);
    const differs = !stops(target) && (await send(method, target, bearer)) !== without;
    if (differs) found.guarded += 1;
    const mayBeOpen = !differs && (await harmlessOf(method)).has(without);
    if (statusOf(without) !== 401 && !mayBeOpen) found.open.push(`${method} ${target}: ${without}`);
  }
  for (const { target } of fc.sample(requestsTo(['/api/v1/ws']), { seed: 22, numRuns: requests.length })) {
    const refused = statusOf(await rawUpgrade(url, target));
    const isOpened = statusOf(await rawUpgrade(url, target, bearer)) === 101;
    if (isOpened) found.upgrades += 1;
    if (refused === 101 || (isOpened && refused !== 401)) found.open.push(`upgrade ${target}: ${refused}`);
  }
  return found;
}
