/** Downloads: `GET sessions/{id}/fs/{path}:download` and `GET fs:content`. Ranges are tested separately. */
import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startFilesSession, type FilesSession } from '#support/files-session.ts';
import { rawRequest } from '#support/raw-request.ts';

let session: FilesSession;
let root: string;
beforeAll(async () => {
  session = await startFilesSession();
  ({ root } = session);
  await mkdir(join(root, 'src'));
  await writeFile(join(root, 'src/a.ts'), 'hello');
  await utimes(join(root, 'src/a.ts'), 1, 1_700_000_000);
  await writeFile(join(root, 'grüße: 1.txt'), 'hi');
  await writeFile(join(root, 'data'), Buffer.from([0, 1, 2, 0, 3]));
  await writeFile(join(session.outside, 'secret'), 'secret');
  await symlink(session.outside, join(root, 'out'));
  execFileSync('mkfifo', [join(root, 'pipe')]);
});
afterAll(() => session.close());

const raw = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  rawRequest(session.server.url, {
    method,
    path: `/api/v1${path}`,
    headers: { authorization: `Bearer ${session.server.token}`, ...headers },
  });
/** Requests a download; `path` is in URL encoding. */
const download = (path: string, headers?: Record<string, string>, method?: string) =>
  raw(`/sessions/${session.id}/fs/${path}`, headers, method);
const failure = async (path: string) => JSON.parse((await download(path)).text) as unknown;

describe('download', () => {
  it('sends the file with its headers', async () => {
    const { etag } = (await session.ok('stat', { path: 'src/a.ts' })) as { etag: string };
    const answer = await download('src/a.ts:download');
    expect([answer.status, answer.text]).toEqual([200, 'hello']);
    expect(answer.headers).toMatchObject({
      'content-type': 'text/typescript',
      'content-length': '5',
      'content-disposition': 'attachment; filename="a.ts"',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
      etag: `"${etag}"`,
    });
    for (const tag of [etag, `"${etag}"`, `W/"${etag}"`, `"x", "${etag}"`, '*']) {
      const unchanged = await download('src/a.ts:download', { 'if-none-match': tag, range: 'bytes=0-1' });
      expect([unchanged.status, unchanged.text, unchanged.headers.etag]).toEqual([304, '', `"${etag}"`]);
    }
    const head = await download('src/a.ts:download', {}, 'HEAD');
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', '5']);
  });

  it('sends ranges', async () => {
    const part = await download('src/a.ts:download', { range: 'bytes=-4' });
    expect([part.status, part.text, part.headers['content-range']]).toEqual([206, 'ello', 'bytes 1-4/5']);
    expect((await download('src/a.ts:download', { range: 'bytes=999-' })).status).toBe(200);
  });

  it('decodes the path a single time, and strips only the last suffix', async () => {
    expect((await download('src%2Fa.ts%3Adownload')).text).toBe('hello');
    const named = await download(`${encodeURIComponent('grüße: 1.txt')}:download`);
    expect(named.text).toBe('hi');
    expect(named.headers['content-disposition']).toBe(
      `attachment; filename="gr__e_ 1.txt"; filename*=UTF-8''gr%C3%BC%C3%9Fe%3A%201.txt`,
    );
    await writeFile(join(root, 'x:download'), 'odd');
    expect((await download('x:download:download')).text).toBe('odd');
    expect((await download('data:download')).headers['content-type']).toBe('application/octet-stream');
  });

  it('checks in a fixed order', async () => {
    const at = async (path: string) => JSON.parse((await raw(path)).text) as unknown;
    expect(await at('/sessions/none/fs/a?runtime_id=')).toMatchObject({
      code: 40001,
      details: [{ path: 'runtime_id' }],
    });
    expect(await at('/sessions/none/fs/a/b')).toMatchObject({ code: 40001, msg: 'unsupported action: a/b' });
    expect(await at('/sessions/none/fs/a:b')).toMatchObject({ code: 40001, msg: 'unsupported action: a:b' });
    expect(await at('/sessions/none/fs/:download')).toMatchObject({
      code: 40001,
      details: [{ message: 'path is empty' }],
    });
    expect(await at('/sessions/none/fs/a:download?runtime_id=x')).toMatchObject({ code: 40401 });
    expect(await at(`/sessions/${session.id}/fs/..:download?runtime_id=x`)).toMatchObject({ code: 40420 });
    expect(await at('/sessions/none/fs')).toMatchObject({ code: 40400 });
  });

  it.each([
    '../outside/secret',
    'src/../src/a.ts',
    '%2e%2e/outside/secret',
    '%2Fetc%2Fpasswd',
    '/etc/passwd',
    'out/secret',
  ])('%s does not lead out', async (path) => expect(await failure(`${path}:download`)).toMatchObject({ code: 41304 }));

  it('sends only files', async () => {
    expect(await failure('src:download')).toMatchObject({ code: 40906, msg: 'path is a directory: src' });
    expect(await failure('missing:download')).toMatchObject({ code: 40409, msg: 'path not found: missing' });
    expect(await failure('pipe:download')).toMatchObject({ code: 40409 });
  });

  it('has no size limit', async () => {
    await writeFile(join(root, 'large.bin'), '');
    await truncate(join(root, 'large.bin'), 3_000_000_000);
    const head = await download('large.bin:download', {}, 'HEAD');
    expect(head.headers['content-length']).toBe('3000000000');
    const part = await download('large.bin:download', { range: 'bytes=-2' });
    expect(part.headers['content-range']).toBe('bytes 2999999998-2999999999/3000000000');
  });
});

describe('fs:content', () => {
  const content = (path: string, headers?: Record<string, string>) =>
    raw(`/fs:content?path=${encodeURIComponent(path)}`, headers);
  const refused = async (path: string) => JSON.parse((await content(path)).text) as unknown;

  it('sends any file of the machine', async () => {
    await symlink(join(session.outside, 'secret'), join(root, 'link'));
    const answer = await content(join(root, 'link'), { range: 'bytes=0-2' });
    expect([answer.status, answer.text]).toEqual([206, 'sec']);
    expect(answer.headers).toMatchObject({ 'content-type': 'text/plain' });
    expect(answer.headers).not.toHaveProperty('content-disposition');
    const again = await content(join(root, 'link'), { 'if-none-match': answer.headers.etag as string });
    expect(again.status).toBe(304);
  });

  it('needs the absolute path of a regular file', async () => {
    expect(await refused('~/x')).toMatchObject({ code: 40001, details: [{ message: 'path must be absolute: ~/x' }] });
    expect(await refused(join(root, 'none'))).toMatchObject({ code: 40409 });
    expect(await refused(root)).toMatchObject({ code: 40906, msg: `path is a directory: ${root}` });
    for (const path of [join(root, 'pipe'), '/dev/null']) {
      expect(await refused(path)).toMatchObject({
        code: 40001,
        details: [{ path: 'path', message: `path is not a regular file: ${path}` }],
      });
    }
  });
});
