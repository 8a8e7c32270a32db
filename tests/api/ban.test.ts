/** Concurrent password guesses from one address, on a bind that other machines reach. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rawExchange, rawUpgrade } from '#support/raw-request.ts';
import { startServer, type TestServer } from '#support/server.ts';

const PASSWORD = 'guess4321';

let server: TestServer;
beforeEach(async () => {
  server = await startServer({
    host: '0.0.0.0',
    env: () => ({ ...process.env, SERVICE_CODE_PASSWORD: PASSWORD }),
    mayStall: 'thousands of requests arrive in one chunk',
  });
});
afterEach(() => server.close());

/** Sends a request with each secret over one connection; resolves to the statuses of the answers. */
async function pipeline(secrets: readonly string[]): Promise<number[]> {
  const requests = secrets.map((secret, n) => {
    const connection = n === secrets.length - 1 ? 'close' : 'keep-alive';
    return `GET /api/v1/meta HTTP/1.1\r\nHost: localhost\r\nConnection: ${connection}\r\nAuthorization: Bearer ${secret}\r\n\r\n`;
  });
  const answers = await rawExchange(server.url, requests.join(''), () => false);
  return [...answers.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** A list of guesses; the middle one is correct. */
const guesses = (count: number) =>
  Array.from({ length: count }, (_, n) => (n === Math.floor(count / 2) ? PASSWORD : `guess${n}`));

/** How many of the statuses reveal whether the secret was correct. */
const telling = (statuses: number[]) => statuses.filter((status) => status !== 429).length;

it('pipelined: ten answers reveal whether a guess was correct', async () => {
  const statuses = await pipeline(guesses(5000));
  expect(statuses).toHaveLength(5000);
  expect(statuses).not.toContain(200);
  expect(telling(statuses)).toBe(10);
});

it('over 200 connections: ten answers reveal whether a guess was correct', async () => {
  const all = guesses(5000);
  const parts = Array.from({ length: 200 }, (_, n) => all.slice(n * 25, (n + 1) * 25));
  const statuses = (await Promise.all(parts.map(pipeline))).flat();
  expect(statuses).toHaveLength(5000);
  expect(telling(statuses)).toBeLessThanOrEqual(10);
});

it('as upgrades: ten answers reveal whether a guess was correct', async () => {
  const upgrade = async (secret: string) => {
    const answer = await rawUpgrade(server.url, '/api/v1/ws', { Authorization: `Bearer ${secret}` });
    return Number(answer.slice('HTTP/1.1 '.length, 'HTTP/1.1 101'.length));
  };
  const statuses = await Promise.all(guesses(200).map(upgrade));
  expect(telling(statuses)).toBeLessThanOrEqual(10);
  expect(new Set(await pipeline([PASSWORD]))).toEqual(new Set([429]));
});

it('30 concurrent requests of a page with the correct token or password are answered', async () => {
  for (const secret of [server.token, PASSWORD]) {
    const statuses = await Promise.all(Array.from({ length: 30 }, () => pipeline([secret, secret])));
    expect(new Set(statuses.flat())).toEqual(new Set([200]));
  }
});
