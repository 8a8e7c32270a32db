import { createHash } from 'node:crypto';
import { createServer, type RequestListener } from 'node:http';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient, type Fetch, type HttpClient } from '#server/net/http-client.ts';
import { downloadTo } from '#server/plugins/download.ts';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { serveDuringTest } from '#support/zips.ts';

const folder = useTemporaryFolder();
const path = () => join(folder.path, 'archive.zip');

let client: HttpClient;
beforeEach(() => (client = createHttpClient()));
afterEach(() => client.close());

const download = (
  url: string,
  { ms = 60_000, maxBytes = 1000, fetch = client.fetch, signal = new AbortController().signal } = {},
) => downloadTo(path(), url, { fetch, signal }, { ms, maxBytes });

const refusal = (reason: string | RegExp) =>
  expect.objectContaining({
    name: 'validation.failed',
    message:
      typeof reason === 'string'
        ? `Failed to download zip: ${reason}`
        : expect.stringMatching(new RegExp(`^Failed to download zip: ${reason.source}`)),
  });

const redirect =
  (location: string, status = 302): RequestListener =>
  (_request, response) =>
    void response.writeHead(status, { location }).end();

it('writes the body, names itself, and returns the hash', async () => {
  let agent: string | undefined;
  const url = await serveDuringTest({
    '/a.zip': (request, response) => {
      agent = request.headers['user-agent'];
      response.end('some bytes');
    },
  });
  expect(await download(`${url}/a.zip`)).toBe(createHash('sha256').update('some bytes').digest('hex'));
  expect(await readFile(path(), 'utf8')).toBe('some bytes');
  expect(agent).toMatch(/^service-code\/\d/);
});

describe('redirects', () => {
  it('are followed five times, relative ones and those of another host too', async () => {
    const other = await serveDuringTest({ '/end': 'there' });
    const url = await serveDuringTest({
      '/0': redirect('/1', 301),
      '/1': redirect('2', 302),
      '/2': redirect('/3', 303),
      '/3': redirect('/4', 307),
      '/4': redirect(`${other}/end`, 308),
    });
    await download(`${url}/0`);
    expect(await readFile(path(), 'utf8')).toBe('there');
  });

  it('are refused after the fifth, and in a loop', async () => {
    let asked = 0;
    const url = await serveDuringTest({
      '/loop': (_request, response) => {
        asked += 1;
        response.writeHead(302, { location: '/loop' }).end();
      },
    });
    await expect(download(`${url}/loop`)).rejects.toEqual(refusal('more than 5 redirects'));
    expect(asked).toBe(6);
  });

  it('are refused to another kind of address', async () => {
    for (const [location, reason] of [
      ['file:///etc/passwd', 'a redirect to file:'],
      ['ftp://host/x', 'a redirect to ftp:'],
      ['http://', 'a redirect to an invalid address'],
    ] as const) {
      const url = await serveDuringTest({ '/a': redirect(location) });
      await expect(download(`${url}/a`)).rejects.toEqual(refusal(reason));
      await rm(path());
    }
  });

  it('are refused from https to http', async () => {
    const asked: string[] = [];
    const fetch: Fetch = async (url) => {
      asked.push(String(url));
      return new Response(null, { status: 302, headers: { location: 'http://host.test/b.zip' } });
    };
    await expect(download('https://host.test/a.zip', { fetch })).rejects.toEqual(
      refusal('a redirect from https to http'),
    );
    expect(asked).toEqual(['https://host.test/a.zip']);
  });

  it('without a target are failures', async () => {
    const url = await serveDuringTest({ '/a': (_request, response) => void response.writeHead(302).end() });
    await expect(download(`${url}/a`)).rejects.toEqual(refusal('HTTP 302 Found'));
  });
});

describe('refuses', () => {
  it.each([404, 403, 500, 304])('the status %i', async (status) => {
    const url = await serveDuringTest({ '/a': (_request, response) => void response.writeHead(status).end() });
    await expect(download(`${url}/a`)).rejects.toEqual(refusal(new RegExp(`HTTP ${status} \\w+`)));
  });

  it('a connection that is refused', async () => {
    const closed = createServer();
    const port = await listenDuringTest(closed);
    closed.close();
    await expect(download(`http://127.0.0.1:${port}/a`)).rejects.toEqual(refusal(/.*ECONNREFUSED/));
  });

  it('a connection that is reset, before and in the middle of the body', async () => {
    const url = await serveDuringTest({
      '/before': (request) => void request.socket.resetAndDestroy(),
      '/middle': (request, response) => {
        response.writeHead(200, { 'content-length': 500 });
        response.write('a part', () => request.socket.resetAndDestroy());
      },
    });
    await expect(download(`${url}/before`)).rejects.toEqual(refusal(/./));
    await rm(path());
    await expect(download(`${url}/middle`)).rejects.toEqual(refusal(/./));
  });

  it('silence, before and in the middle of the body', async () => {
    const url = await serveDuringTest({
      '/before': () => undefined,
      '/middle': (_request, response) => void response.writeHead(200).write('a part'),
    });
    await expect(download(`${url}/before`, { ms: 50 })).rejects.toEqual(refusal('timed out after 0.05 s'));
    await rm(path());
    await expect(download(`${url}/middle`, { ms: 500 })).rejects.toEqual(refusal('timed out after 0.5 s'));
  });

  it('an endless body', async () => {
    let closed = false;
    const url = await serveDuringTest({
      '/a': (_request, response) => {
        const timer = setInterval(() => response.write('x'.repeat(100)), 1);
        response.on('close', () => {
          clearInterval(timer);
          closed = true;
        });
      },
    });
    await expect(download(`${url}/a`)).rejects.toEqual(refusal('it is larger than 1000 bytes'));
    await expect.poll(() => closed).toBe(true);
  });
});

it('has one time limit for all redirects and the body', async () => {
  const url = await serveDuringTest({
    '/0': (_request, response) => void setTimeout(() => response.writeHead(302, { location: '/1' }).end(), 150),
    '/1': (_request, response) => void setTimeout(() => response.end('late'), 150),
  });
  await expect(download(`${url}/0`, { ms: 200 })).rejects.toEqual(refusal('timed out after 0.2 s'));
});

it('stops with the reason of the signal', async () => {
  const stopping = new AbortController();
  const url = await serveDuringTest({ '/a': () => stopping.abort(new Error('stopping')) });
  await expect(download(`${url}/a`, { signal: stopping.signal })).rejects.toThrow(/^stopping$/);
});

it('reports a file that cannot be written as a failure of the disk', async () => {
  const url = await serveDuringTest({ '/a': 'x' });
  await mkdir(path());
  await expect(download(`${url}/a`)).rejects.toMatchObject({ name: 'NotStored' });
});
