/** Search in `nitro dev`: the program of its thread is loaded again with its files, and no end of a worker harms it. */
import { once } from 'node:events';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { searchReplySchema, type SearchReply } from '#schema/rest/search.ts';
import type { BuiltHome } from '#support/built-home.ts';
import { eventually, until } from '#support/patience.ts';
import { BUILD_PATIENCE_MS, copyProject, type DevelopmentServer, type ProjectCopy } from '#support/project-copy.ts';
import { integrityOf, removeSearchFile } from '#support/search-file.ts';
import { makeTalkativeHome } from '#support/talkative-home.ts';

/** While this file exists, plugins that close never do. */
const HANG = 'hang';
const HANGING_PLUGIN = `
import { existsSync } from 'node:fs';
import { defineNitroPlugin } from 'nitropack/runtime';
export default defineNitroPlugin(({ hooks }) => {
  hooks.hook('close', () => (existsSync('${HANG}') ? new Promise<void>(() => undefined) : undefined));
});
`;

let built: BuiltHome;
let project: ProjectCopy;
beforeAll(async () => {
  [built, project] = await Promise.all([makeTalkativeHome(120), copyProject()]);
  // By its name it is closed before the app.
  await project.write('plugins/a-hang.ts', HANGING_PLUGIN);
});
afterAll(async () => {
  await project.remove();
  await built.remove();
});

let server: DevelopmentServer;
let token: string;
async function start(): Promise<void> {
  server = await project.develop(built.home);
  token = await readFile(join(built.home, 'server.token'), 'utf8');
}
async function stop(): Promise<void> {
  await rm(join(project.path, HANG), { force: true });
  if (server.process.exitCode === null && server.process.signalCode === null) {
    server.process.kill('SIGKILL');
    await once(server.process, 'exit');
  }
}

const hang = () => writeFile(join(project.path, HANG), '');

/** The data of an answer; undefined while the dev server has no worker. */
async function send(method: string, path: string, body?: object): Promise<unknown> {
  const answer = await fetch(`${server.url}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });
  if (answer.status === 503) return void (await answer.text());
  return z.object({ data: z.unknown() }).parse(await answer.json()).data;
}

async function search(body: object): Promise<SearchReply | undefined> {
  const data = await send('POST', '/search', body);
  return data === undefined ? undefined : searchReplySchema.parse(data);
}

const untilBuilt = (check: () => Promise<boolean>, what: string) => until(check, what, BUILD_PATIENCE_MS);

/** Removes the index, and waits until it is being filled again. */
async function startFilling(): Promise<void> {
  await removeSearchFile(built.home);
  await eventually(async () => {
    const state = (await search({ query: 'narwhal' }))?.index_state;
    expect(state?.state).toBe('building');
    expect(state?.indexed_sessions).toBeGreaterThan(0);
  });
}

const instances = () => readdir(join(built.home, 'server', 'instances'));

function expectIntact(): void {
  // Builds print warnings there.
  expect(server.errors()).not.toMatch(/panic|abort|assert|fatal/i);
  expect(integrityOf(built.home)).toEqual(['ok']);
}

describe('nitro dev', () => {
  beforeAll(start, BUILD_PATIENCE_MS);
  afterAll(stop);

  const snippet = async () => (await search({ query: 'often', page_size: 1 }))?.items[0]?.snippet;
  const untilShown = (text: RegExp) =>
    untilBuilt(async () => text.test((await snippet().catch(() => undefined)) ?? ''), String(text));

  it('loads the program of a thread again when a file of it changes', { timeout: 2 * BUILD_PATIENCE_MS }, async () => {
    await untilShown(/^How often was a narwhal seen\? \d$/);
    await startFilling();
    await hang();
    await project.edit('server/search/snippet.ts', 'const CONTEXT_UNITS = 80;', 'const CONTEXT_UNITS = 2;');
    await untilShown(/^…w often w…$/);
    // The worker before had no time to close, but it has exited.
    await eventually(async () => expect(await instances()).toHaveLength(1));
    await rm(join(project.path, HANG));
    expectIntact();
  });

  it(
    'reports a program that cannot be bundled, until it is corrected',
    { timeout: 3 * BUILD_PATIENCE_MS },
    async () => {
      const file = 'server/search/search-program.ts';
      const text = 'sendMessage(message);';
      await project.edit(file, text, '(;');
      await untilBuilt(async () => server.output().includes(file), 'the reason');
      await project.edit(file, '(;', text);
      await project.edit('server/search/snippet.ts', 'const CONTEXT_UNITS = 2;', 'const CONTEXT_UNITS = 3;');
      await untilShown(/^…ow often wa…$/);
    },
  );

  it('closes the app on POST shutdown, during the first fill', async () => {
    await startFilling();
    const exited = once(server.process, 'exit');
    await send('POST', '/shutdown');
    expect(await exited).toEqual([0, null]);
    expect(await instances()).toEqual([]);
    expectIntact();
  });
});

it('a signal for nitro dev during the first fill ends it also while something does not close', async () => {
  await start();
  onTestFinished(stop);
  await startFilling();
  await hang();
  const exited = once(server.process, 'exit');
  server.process.kill('SIGTERM');
  expect(await exited).toEqual([1, null]);
  expect(await instances()).toEqual([]);
  expectIntact();
});
