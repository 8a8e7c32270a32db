import { describe, expect, it } from 'vitest';
import type { Fetch } from '#server/net/http-client.ts';
import { archiveUrl, resolveRepository } from '#server/plugins/repository.ts';
import { parseSource } from '#server/plugins/sources.ts';

const SHA = '0123456789abcdef0123456789abcdef01234567';
const LATEST = 'https://github.com/acme/tools/releases/latest';
const commits = (ref: string) => `https://api.github.com/repos/acme/tools/commits/${ref}`;

type Reply = () => Response | Promise<Response>;
const redirectTo = (location: string) => () => new Response(null, { status: 302, headers: { location } });
const says =
  (text: string, status = 200) =>
  () =>
    new Response(text, { status });

/** Resolves an address with these replies; the requests as `url accept`. */
async function resolve(address: string, replies: Record<string, Reply>, lookupMs = 60_000) {
  const requests: string[] = [];
  const fetch: Fetch = async (url, init) => {
    const headers = new Headers(init?.headers);
    requests.push([String(url), headers.get('accept')].filter(Boolean).join(' '));
    expect(headers.get('user-agent')).toMatch(/^service-code/);
    const reply = replies[String(url)];
    if (!reply) throw new TypeError('fetch failed', { cause: new Error(`no host for ${String(url)}`) });
    return reply();
  };
  const source = parseSource(address);
  if (source.kind !== 'github') throw new Error('no repository');
  const found = await resolveRepository(source, { fetch, signal: new AbortController().signal }, lookupMs).catch(
    (error: unknown) => error,
  );
  return { found, requests };
}

it('takes the tag of the latest release, and its commit', async () => {
  const { found, requests } = await resolve('https://github.com/acme/tools', {
    [LATEST]: redirectTo('https://github.com/acme/tools/releases/tag/pkg%2Fv1.0'),
    [commits('pkg/v1.0')]: says(`${SHA.toUpperCase()}\n`),
  });
  expect(found).toEqual({ owner: 'acme', repo: 'tools', ref: { kind: 'tag', value: 'pkg/v1.0' }, sha: SHA });
  expect(requests).toEqual([LATEST, `${commits('pkg/v1.0')} application/vnd.github.sha`]);
});

it.each([
  ['404', says('', 404)],
  ['a redirect to the list of releases', redirectTo('/acme/tools/releases')],
])('takes the default branch of a repository without releases: %s', async (_what, reply) => {
  const { found } = await resolve('https://github.com/acme/tools.git', {
    [LATEST]: reply,
    [commits('HEAD')]: says(SHA),
  });
  expect(found).toMatchObject({ ref: { kind: 'branch', value: 'HEAD' }, sha: SHA });
});

it('looks up the commit of a branch and of a short one, in one request', async () => {
  const branch = await resolve('https://github.com/acme/tools/tree/feature/a%20b%23', {
    [commits('feature/a%20b%23')]: says(SHA),
  });
  expect(branch.found).toMatchObject({ ref: { kind: 'branch', value: 'feature/a b#' }, sha: SHA });
  const short = await resolve('https://github.com/acme/tools/tree/0123456', { [commits('0123456')]: says(SHA) });
  expect(short.found).toMatchObject({ ref: { kind: 'sha', value: '0123456' }, sha: SHA });
});

it('sends no request for a full commit', async () => {
  const { found, requests } = await resolve(`https://github.com/acme/tools/commit/${SHA}`, {});
  expect(found).toMatchObject({ ref: { kind: 'sha', value: SHA }, sha: SHA });
  expect(requests).toEqual([]);
  expect(archiveUrl({ owner: 'acme', repo: 'tools', ref: { kind: 'sha', value: SHA }, sha: SHA })).toBe(
    `https://github.com/acme/tools/archive/${SHA}.zip`,
  );
});

it('looks up a branch that has 40 hexadecimal digits as a commit, never a tag', async () => {
  const { found } = await resolve(`https://github.com/acme/tools/releases/tag/${SHA}`, {
    [commits(SHA)]: says('f'.repeat(40)),
  });
  expect(found).toMatchObject({ ref: { kind: 'tag', value: SHA }, sha: 'f'.repeat(40) });
});

describe('fails', () => {
  const branch = 'https://github.com/acme/tools/tree/main';
  it.each([403, 429])('with a hint at the rate limit: HTTP %i', async (status) => {
    const { found } = await resolve(branch, { [commits('main')]: says('x'.repeat(100_000), status) });
    expect(String(found)).toMatch(new RegExp(`HTTP ${status} .*rate limit.*full commit`));
  });

  it.each([
    ['an unknown ref', says('{"message":"No commit"}', 422), /HTTP 422/],
    ['a reply that is no commit', says('main'), /the reply is no commit/],
    ['a reply that is too long', says('0'.repeat(2000)), /larger than 1024 bytes/],
  ])('for %s', async (_what, reply, reason) => {
    expect(String((await resolve(branch, { [commits('main')]: reply })).found)).toMatch(reason);
  });

  it('for a host that cannot be reached or is silent, with the cause', async () => {
    expect(String((await resolve(branch, {})).found)).toMatch(/no host for/);
    const fetch: Fetch = (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)));
    const source = parseSource(branch);
    if (source.kind !== 'github') throw new Error('no repository');
    await expect(resolveRepository(source, { fetch, signal: new AbortController().signal }, 20)).rejects.toThrow(
      'timed out after 0.02 s',
    );
  });

  it('for a release lookup with another status', async () => {
    const { found } = await resolve('https://github.com/acme/tools', { [LATEST]: says('', 500) });
    expect(String(found)).toMatch(/latest release is unknown: HTTP 500/);
  });
});
