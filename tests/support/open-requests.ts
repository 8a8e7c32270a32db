/** Requests that a server answers without the token, over raw sockets: for tests that there are none but the health check. */
import { rawExchange, rawUpgrade } from './raw-request.ts';
import { seeded } from './random.ts';
import { randomRequest } from './random-targets.ts';

/** Sends a request line as it stands; resolves to the whole answer. */
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

/**
 * Sends `count` random requests and upgrades without a token and returns those that reached an endpoint other than the
 * health check: it alone answers JSON with the status 200 then. `routes` are public paths.
 */
export async function openRequests(url: string, routes: readonly string[], count: number): Promise<string[]> {
  const random = seeded(22);
  const open: string[] = [];
  for (let sent = 0; sent < count; sent += 1) {
    const { method, target } = randomRequest(random, routes);
    const [head = '', body = ''] = (await requestWithoutBody(url, method, target)).split('\r\n\r\n');
    const isJson = /^HTTP\/1\.1 200[^]*\r\ncontent-type: application\/json/i.test(head);
    if (isJson && !(method === 'GET' && body.includes('"data":{"ok":true}'))) open.push(`${method} ${target}`);
    const upgraded = await rawUpgrade(url, randomRequest(random, ['/api/v1/ws']).target);
    if (upgraded.startsWith('HTTP/1.1 101')) open.push(`upgrade ${target}`);
  }
  return open;
}
