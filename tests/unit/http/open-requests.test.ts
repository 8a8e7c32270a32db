import { createServer, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { eventually, until } from '#support/patience.ts';
import { createOpenRequests } from '#utils/http/open-requests.ts';

it('resolves when the last of the open requests has ended, for everybody who waits', async () => {
  const responses: ServerResponse[] = [];
  const server = createServer((_request, response) => void responses.push(response));
  const requests = createOpenRequests();
  server.on('request', (_request, response) => requests.add(response));
  const url = `http://127.0.0.1:${await listenDuringTest(server)}`;
  const settled: string[] = [];
  const wait = (name: string) => requests.ended().then(() => settled.push(name));

  await wait('without requests');
  const first = fetch(url);
  const aborted = new AbortController();
  const second = fetch(url, { signal: aborted.signal }).catch(() => undefined);
  await until(() => responses.length === 2);
  void wait('a');
  void wait('b');
  responses[0]?.end();
  await (await first).text();
  await eventually(() => expect(responses[0]?.closed || responses[1]?.closed).toBe(true));
  expect(settled).toEqual(['without requests']);
  // A request that its client ends is no longer open either.
  aborted.abort();
  responses[1]?.end();
  await second;
  await eventually(() => expect(settled).toEqual(['without requests', 'a', 'b']));
  await wait('afterwards');
  void fetch(url).catch(() => undefined);
  await until(() => responses.length === 3);
  void wait('the next');
  expect(settled).not.toContain('the next');
  responses[2]?.end();
  await eventually(() => expect(settled.at(-1)).toBe('the next'));
});
