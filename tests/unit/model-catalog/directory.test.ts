import { expect, it, onTestFinished } from 'vitest';
import { gzipSync } from 'node:zlib';
import { DIRECTORY_AGE_MS, DIRECTORY_TIMEOUT_MS, createModelDirectory } from '#server/model-catalog/directory.ts';
import { downloadDirectory } from '#server/model-catalog/directory-download.ts';
import { parseDirectory } from '#server/model-catalog/parse-directory.ts';
import { createHttpClient } from '#server/net/http-client.ts';
import { systemNetwork } from '#server/net/network.ts';
import { manualClock } from '#support/manual-clock.ts';
import {
  compressionBomb,
  directoryDuringTest,
  directoryEntry,
  directoryModel,
  documentAnswer,
  snapshotOf,
  statusAnswer,
  type TestDirectory,
} from '#support/model-directory.ts';
import { until } from '#support/patience.ts';

function open(
  served: TestDirectory,
  snapshot: () => Promise<Uint8Array<ArrayBuffer> | undefined> = async () => undefined,
) {
  const clock = manualClock();
  const warnings: [message: string, id: unknown][] = [];
  const { fetch, close } = createHttpClient();
  let snapshots = 0;
  const directory = createModelDirectory({
    url: async () => served.url,
    download: (url, signal) => downloadDirectory(url, { userAgent: 'x/1', signal }, { fetch, network: systemNetwork }),
    parse: parseDirectory,
    snapshot() {
      snapshots += 1;
      return snapshot();
    },
    clock,
    log: { warn: (message, fields) => warnings.push([message, fields?.id]) },
  });
  onTestFinished(async () => {
    directory.close();
    await close();
  });
  const ids = async () => (await directory.list()).map(({ id }) => id);
  return { directory, ids, clock, warnings, snapshots: () => snapshots };
}

const SNAPSHOT = snapshotOf({ $snapshot: { date: '2026-01-01' }, 'from-snapshot': directoryEntry() });

it('requests nothing before its first use, then a single document for all calls', async () => {
  const served = await directoryDuringTest(documentAnswer({ b: directoryEntry(), a: directoryEntry() }));
  const { directory, ids } = open(served);
  expect(served.requests).toHaveLength(0);
  const [first, second, entry] = await Promise.all([ids(), ids(), directory.get('a')]);
  expect(first).toEqual(['b', 'a']);
  expect(second).toEqual(first);
  expect(entry.id).toBe('a');
  await ids();
  expect(served.requests).toHaveLength(1);
  expect(served.requests[0]?.headers).toMatchObject({ 'user-agent': 'x/1', accept: 'application/json' });
  expect(served.requests[0]?.headers).not.toHaveProperty('authorization');
});

it('reads a compressed document', async () => {
  const { ids } = open(
    await directoryDuringTest((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' });
      response.end(gzipSync(JSON.stringify({ a: directoryEntry() })));
    }),
  );
  expect(await ids()).toEqual(['a']);
});

it('reads a large document in a thread', async () => {
  const models = Array.from({ length: 100 }, (_, n) => `model-${n}-${'x'.repeat(100)}`);
  const providers = Array.from({ length: 50 }, (_, n) => [`p${n}`, directoryEntry(models)]);
  const { directory } = open(await directoryDuringTest(documentAnswer(Object.fromEntries(providers))));
  const items = await directory.list();
  expect(items).toHaveLength(50);
  expect(items.at(-1)).toMatchObject({ id: 'p49', models: { length: 100 } });
});

it('lists the snapshot instead of a large text that is not JSON', async () => {
  const { ids, warnings } = open(
    await directoryDuringTest((_request, response) => response.end('<'.repeat(1_000_000))),
    SNAPSHOT,
  );
  expect(await ids()).toEqual(['from-snapshot']);
  expect(warnings[0]?.[0]).toMatch(/^the model directory cannot be read: Unexpected token/);
});

it('requests the document again after 10 minutes', async () => {
  const served = await directoryDuringTest(documentAnswer({ a: directoryEntry() }));
  const { ids, clock } = open(served);
  await ids();
  clock.advance(DIRECTORY_AGE_MS - 1);
  await ids();
  expect(served.requests).toHaveLength(1);
  served.answer = documentAnswer({ b: directoryEntry() });
  clock.advance(1);
  expect(await ids()).toEqual(['b']);
});

it('lists an old copy while the directory fails, and requests it again with each call', async () => {
  const served = await directoryDuringTest(documentAnswer({ a: directoryEntry() }));
  const { ids, clock, snapshots } = open(served, SNAPSHOT);
  await ids();
  served.answer = statusAnswer(500);
  clock.advance(DIRECTORY_AGE_MS);
  expect(await ids()).toEqual(['a']);
  expect(await ids()).toEqual(['a']);
  expect(served.requests).toHaveLength(3);
  served.answer = documentAnswer({ b: directoryEntry() });
  expect(await ids()).toEqual(['b']);
  expect(snapshots()).toBe(0);
});

it('lists the snapshot, which is cached as a document is', async () => {
  const served = await directoryDuringTest(statusAnswer(503));
  const { ids, clock, warnings } = open(served, SNAPSHOT);
  expect(await ids()).toEqual(['from-snapshot']);
  expect(await ids()).toEqual(['from-snapshot']);
  expect(served.requests).toHaveLength(1);
  expect(warnings).toEqual([['the model directory cannot be read: HTTP 503', undefined]]);
  clock.advance(DIRECTORY_AGE_MS);
  served.answer = documentAnswer({ a: directoryEntry() });
  expect(await ids()).toEqual(['a']);
});

it('is unavailable without a document and a snapshot, and tries again', async () => {
  const served = await directoryDuringTest(statusAnswer(404));
  const { directory, ids } = open(served);
  await expect(ids()).rejects.toMatchObject({ name: 'catalog.unavailable' });
  await expect(directory.get('a')).rejects.toMatchObject({ name: 'catalog.unavailable' });
  served.answer = documentAnswer({ a: directoryEntry() });
  expect(await ids()).toEqual(['a']);
});

it.each([
  ['a page', (): Parameters<typeof directoryDuringTest>[0] => (_request, response) => response.end('<html>')],
  ['a list', () => documentAnswer([directoryEntry()])],
  ['null', () => documentAnswer(null)],
  ['50 MB', () => (_request: unknown, response: { end(text: string): void }) => response.end(' '.repeat(50_000_000))],
  ['a compression bomb', compressionBomb],
  ['an endless redirect', () => statusAnswer(302, { location: '/again' })],
  ['a redirect to a file', () => statusAnswer(302, { location: 'file:///etc/passwd' })],
  [
    'JSON that is nested too deeply',
    () => (_request: unknown, response: { end(text: string): void }) =>
      response.end(`{"a":${'['.repeat(500)}${']'.repeat(500)}}`),
  ],
])('lists the snapshot instead of %s', async (_what, answer) => {
  const { ids } = open(await directoryDuringTest(answer()), SNAPSHOT);
  expect(await ids()).toEqual(['from-snapshot']);
});

it('lists the snapshot when the directory sends slowly', async () => {
  const served = await directoryDuringTest((_request, response) => {
    const drip = setInterval(() => response.write(' '), 1);
    response.once('close', () => clearInterval(drip));
  });
  const { ids, clock, warnings } = open(served, SNAPSHOT);
  const listed = ids();
  await until(() => served.requests.length > 0);
  clock.advance(DIRECTORY_TIMEOUT_MS);
  expect(await listed).toEqual(['from-snapshot']);
  expect(warnings[0]?.[0]).toMatch(/takes longer than 10000 ms|timed out/);
});

it('drops only what is malformed, with a line for each entry', async () => {
  const document = JSON.parse(`{ "__proto__": { "models": {} } }`);
  const served = await directoryDuringTest(
    documentAnswer(
      Object.assign(document, {
        'a/b': directoryEntry(['good', 'x/y'], {
          unknown: true,
          models: { 1: directoryModel('good'), 2: { id: 3 }, 3: null, 4: directoryModel('x/y') },
        }),
        text: 'x',
        list: [],
        'no-models': { npm: 'x', api: 'https://a' },
        'models-list': directoryEntry([], { models: [] }),
        'env-text': directoryEntry([], { env: 'KEY' }),
        huge: directoryEntry([], { models: { m: directoryModel('m', { name: 'x'.repeat(2_000_000) }) } }),
        last: directoryEntry(),
      }),
    ),
  );
  const { directory, ids, warnings } = open(served);
  expect(await ids()).toEqual(['a/b', 'no-models', 'last']);
  expect((await directory.get('a/b')).models.map(({ id }) => id)).toEqual(['good', 'x/y']);
  const message = 'an entry of the model directory is malformed or too large';
  expect(warnings.toSorted((a, b) => (String(a[1]) < String(b[1]) ? -1 : 1))).toEqual(
    ['__proto__', 'env-text', 'huge', 'list', 'models-list', 'text'].map((id) => [message, id]),
  );
});

it('a document of malformed entries and long keys causes a limited number of short lines', async () => {
  const malformed = Array.from({ length: 10_000 }, (_, at) => [`${at}${'x'.repeat(at < 10 ? 100_000 : 0)}`, 0]);
  const served = await directoryDuringTest(
    documentAnswer({ good: directoryEntry(), ...Object.fromEntries(malformed) }),
  );
  const { ids, warnings } = open(served);
  expect(await ids()).toEqual(['good']);
  expect(warnings.length).toBeLessThanOrEqual(21);
  expect(warnings.map(([, id]) => String(id).length).every((length) => length <= 100)).toBe(true);
});

it.each(['__proto__', 'constructor', 'toString', 'b'])('has no entry %s', async (id) => {
  const served = await directoryDuringTest(documentAnswer({ a: directoryEntry() }));
  const { directory } = open(served);
  await expect(directory.get(id)).rejects.toMatchObject({
    name: 'catalog.entry_not_found',
    message: `catalog entry ${id} does not exist`,
  });
  await expect(directory.resolved(id)).rejects.toMatchObject({ name: 'catalog.entry_not_found' });
});

it('uses no copy of another address', async () => {
  const served = await directoryDuringTest(documentAnswer({ a: directoryEntry() }));
  const other = await directoryDuringTest(documentAnswer({ b: directoryEntry() }));
  const { ids } = open(served);
  expect(await ids()).toEqual(['a']);
  served.url = other.url;
  expect(await ids()).toEqual(['b']);
});

it('gives up a running request when it is closed', async () => {
  const served = await directoryDuringTest(() => undefined);
  const { directory, ids, warnings } = open(served);
  const listed = ids().catch((error: unknown) => error);
  await until(() => served.requests.length > 0);
  directory.close();
  expect(await listed).toMatchObject({ name: 'catalog.unavailable' });
  expect(warnings).toEqual([]);
});
