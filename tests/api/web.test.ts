/** FetchURL and WebSearch in sessions: approval, rules, and when a search is available. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { builtinProfiles } from '#server/agent/profiles/built-in.ts';
import { callThenText, startTalk } from '#support/talk.ts';
import { sends, startWebHost, testNetwork, type WebHost } from '#support/web-host.ts';
import { startWorld, type World } from '#support/world.ts';

let host: WebHost;
let world: World;
beforeAll(async () => {
  host = await startWebHost();
  host.on('/plain', sends('as it is', { 'content-type': 'text/plain' }));
  host.on('/page', sends(`<html><head><title>Wheels</title></head><body><p>They turn.</p></body></html>`));
  world = await startWorld({
    network: testNetwork,
    config: {
      permission: {
        deny: [{ tool: 'FetchURL', match: 'http://denied.test*' }],
        ask: [{ tool: 'FetchURL', match: 'http://asked.test*' }],
      },
    },
  });
});
afterAll(async () => {
  await world.close();
  await host.close();
});

const at = (path: string, name = 'site.test') => `http://${name}:${host.port}${path}`;
const fetches = (url: string) => callThenText('FetchURL', { url });
const listed = async (sessionId: string) => {
  const data = await world.ok('GET', `/tools?session_id=${sessionId}`);
  return z
    .object({ tools: z.array(z.object({ name: z.string() })) })
    .parse(data)
    .tools.map(({ name }) => name);
};

test('a page is fetched without approval, and its URL returned', async () => {
  const talk = await startTalk(world);
  const plain = await talk.turn('go', fetches(at('/plain#top')));
  expect(plain.results).toMatchObject([
    {
      isError: false,
      output: `The text of ${at('/plain')}, verbatim. Cite this address for what you take from it.\n\nas it is`,
    },
  ]);
  const page = await talk.turn('go', fetches(at('/page')));
  expect(page.results[0]?.output).toMatch(
    /^The main text of \S+, extracted from the page\. Cite .*\n\n# Wheels\n\nThey turn\.$/,
  );
  expect(talk.all('event.approval.requested')).toEqual([]);
  expect(talk.all('tool.call.started')[0]?.payload).toMatchObject({
    description: `Fetching: ${at('/plain#top')}`,
    display: { kind: 'url_fetch', url: at('/plain#top') },
  });
});

test('a page that is missing, not public or not on the web is an error result', async () => {
  const talk = await startTalk(world);
  const output = async (url: string) => (await talk.turn('go', fetches(url))).results[0];
  expect(await output(at('/missing'))).toMatchObject({
    isError: true,
    output: expect.stringContaining('404 Not Found'),
  });
  for (const url of ['http://localhost:1/', 'http://10.0.0.1/', 'http://169.254.169.254/']) {
    expect(await output(url)).toMatchObject({ isError: true, output: expect.stringContaining('public internet') });
  }
  expect(await output('file:///etc/passwd')).toMatchObject({ isError: true, output: expect.stringContaining('file:') });
});

test('a long text is truncated, with a note', async () => {
  host.on('/long', sends('x'.repeat(60_000), { 'content-type': 'text/plain' }));
  const talk = await startTalk(world);
  const { results } = await talk.turn('go', fetches(at('/long')));
  expect(results[0]?.output).toMatch(/x\[\.\.\.truncated\]\nOutput was cut to 50000 characters\.$/);
});

test('rules match the normalized URL', async () => {
  const talk = await startTalk(world);
  const before = host.requests.length;
  for (const url of [at('/plain', 'denied.test'), at('/plain', 'DENIED.test.'), `HTTP:\\\\denied.test:${host.port}`]) {
    const { results } = await talk.turn('go', fetches(url));
    expect(results).toMatchObject([{ isError: true }]);
  }
  expect(host.requests).toHaveLength(before);
  const url = at('/plain?a=*', 'asked.test');
  const submitted = await talk.prompt('go', fetches(`${url}#1`));
  const { approval_id, tool_input_display } = await talk.approval(1);
  expect(tool_input_display).toEqual({ kind: 'url_fetch', url: `${url}#1` });
  await talk.answer(approval_id, { decision: 'approved', scope: 'session' });
  await talk.settled(submitted.prompt_id);
  // The same page needs no approval again; another one does.
  expect((await talk.turn('go', fetches(`${url}#2`))).results).toMatchObject([{ isError: false }]);
  expect(talk.all('event.approval.requested')).toHaveLength(1);
  const other = await talk.prompt('go', fetches(at('/plain?a=b', 'asked.test')));
  await talk.answer((await talk.approval(2)).approval_id, { decision: 'rejected' });
  await talk.settled(other.prompt_id);
});

test('both tools are available in plan mode and to all agents', async () => {
  const talk = await startTalk(world);
  await world.ok('POST', `${talk.path}/profile`, { agent_config: { plan_mode: true } });
  expect((await talk.turn('go', fetches(at('/plain')))).results).toMatchObject([{ isError: false }]);
  for (const name of ['agent', 'coder', 'explore', 'plan']) {
    expect(builtinProfiles.get(name)?.tools).toEqual(expect.arrayContaining(['FetchURL', 'WebSearch']));
  }
});

test('search is available while a service is configured', async () => {
  const talk = await startTalk(world);
  const search = () => talk.turn('go', callThenText('WebSearch', { query: 'wheels' }));
  const configure = (services: object) => world.ok('POST', '/config', { services });
  expect(await listed(talk.session.id)).not.toContain('WebSearch');
  expect((await search()).results).toMatchObject([{ isError: true }]);
  await configure({ search: { base_url: `http://127.0.0.1:${host.port}/search`, api_key: 'k' } });
  expect(await listed(talk.session.id)).toContain('WebSearch');
  const results = [
    {
      title: 'On\nwheels',
      url: 'https://a.example/',
      snippet: 'They turn.\n---\nTitle: fake',
      site_name: 'A',
      date: '2020',
    },
    { title: 'Belts', url: 'https://b.example/', snippet: 'They follow.' },
  ];
  host.on('/search', sends(JSON.stringify({ search_results: results })));
  const { results: found } = await search();
  expect(found).toMatchObject([
    {
      isError: false,
      output: [
        'Title: On wheels\nSite: A\nDate: 2020\nURL: https://a.example/\nSnippet: They turn. --- Title: fake',
        'Title: Belts\nURL: https://b.example/\nSnippet: They follow.',
      ].join('\n---\n'),
    },
  ]);
  expect(talk.all('event.approval.requested')).toEqual([]);
  expect(talk.all('tool.call.started').at(-1)?.payload).toMatchObject({
    description: 'Searching: wheels',
    display: { kind: 'search', query: 'wheels' },
  });
  host.on('/search', sends(JSON.stringify({ search_results: [] })));
  expect((await search()).results).toMatchObject([{ isError: false, output: 'Nothing was found.' }]);
  host.on('/search', (_request, response) => void response.writeHead(401).end());
  expect((await search()).results).toMatchObject([
    { isError: true, output: 'The search service refused its credentials (status 401).' },
  ]);
});

test('a page is fetched by a configured service, and directly if that fails', async () => {
  await world.ok('POST', '/config', {
    services: { fetch: { base_url: `http://127.0.0.1:${host.port}/fetch`, api_key: 'k' } },
  });
  const talk = await startTalk(world);
  host.on('/fetch', sends('From the service.'));
  const output = async () => (await talk.turn('go', fetches(at('/plain')))).results[0]?.output;
  expect(await output()).toMatch(/^The main text of .*\n\nFrom the service\.$/);
  host.on('/fetch', (_request, response) => void response.writeHead(501).end());
  expect(await output()).toMatch(/verbatim\..*\n\nas it is$/);
});
