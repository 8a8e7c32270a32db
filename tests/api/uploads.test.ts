/** Uploads: the form, storage, reading, expiry, deletion, and the effects of broken or hostile clients. */
import { once } from 'node:events';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { DEFAULT_MAX_BYTES } from '#server/uploads/uploads.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';
import { rawRequest } from '#support/raw-request.ts';
import { startServer, type TestServer } from '#support/server.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import { upload } from '#support/uploads.ts';

let home: string;
let clock: ManualClock;
let env: NodeJS.ProcessEnv = process.env;
let server: TestServer;
beforeAll(async () => {
  home = await temporaryDirectory();
  clock = manualClock();
  server = await startServer({ home, clock, env: () => env });
});
beforeEach(async () => {
  env = { ...process.env };
  await rm(join(home, 'files'), { recursive: true, force: true });
});
afterAll(async () => {
  await server.close();
  await rm(home, { recursive: true, force: true });
});

const kept = async () => (await readdir(join(home, 'files')).catch(() => [])).toSorted();
const read = (id: string, headers: Record<string, string> = {}) =>
  server.fetch(`/api/v1/files/${encodeURIComponent(id)}`, { headers });
const gone = async (id: string) => {
  const answer = await server.api('GET', `/files/${encodeURIComponent(id)}`);
  expect(answer).toMatchObject({ status: 404, code: 40407, msg: 'file not found', data: null });
};

const BOUNDARY = 'xx';
const part = (headers: string, content: string) => `--${BOUNDARY}\r\n${headers}\r\n\r\n${content}\r\n`;
const END = `--${BOUNDARY}--\r\n`;
/** Sends a raw body. */
async function post(body: string | Buffer, type = `multipart/form-data; boundary=${BOUNDARY}`) {
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': type };
  const { text, ...answer } = await rawRequest(server.url, { method: 'POST', path: '/api/v1/files', headers, body });
  const shape = z.looseObject({
    code: z.number(),
    msg: z.string(),
    data: z.record(z.string(), z.unknown()).nullable(),
  });
  return { ...answer, ...shape.parse(JSON.parse(text)) };
}
const FILE = 'content-disposition: form-data; name="file"; filename="a.txt"\r\ncontent-type: text/plain';

describe('an upload', () => {
  it('is stored as bytes and a record, both readable by the owner only, and is read back', async () => {
    const file = await upload(server, { content: 'hello', filename: 'a.txt' });
    expect(file).toEqual({
      id: expect.stringMatching(/^f_[0-9a-f-]{36}$/),
      name: 'a.txt',
      media_type: 'text/plain',
      size: 5,
      created_at: new Date(clock.now()).toISOString(),
    });
    expect(await kept()).toEqual([file.id, `${file.id}.json`]);
    for (const name of await kept()) expect((await stat(join(home, 'files', name))).mode & 0o777).toBe(0o600);
    expect(await readFile(join(home, 'files', file.id), 'utf8')).toBe('hello');

    const answer = await read(file.id);
    expect([answer.status, await answer.text()]).toEqual([200, 'hello']);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/plain',
      'content-length': '5',
      'content-disposition': 'attachment; filename="a.txt"',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: `"${file.id}-5"`,
    });
    expect(answer.headers.has('last-modified')).toBe(false);
  });

  it('is read in ranges, and never answered with 304', async () => {
    const { id } = await upload(server, { content: '0123456789' });
    const tail = await read(id, { range: 'bytes=-4' });
    expect([tail.status, tail.headers.get('content-range'), await tail.text()]).toEqual([206, 'bytes 6-9/10', '6789']);
    expect((await read(id, { 'if-none-match': '*' })).status).toBe(200);
    const head = await server.fetch(`/api/v1/files/${id}`, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
  });

  it('may be empty', async () => {
    const { id, size } = await upload(server, { content: '' });
    expect(size).toBe(0);
    expect(await (await read(id)).text()).toBe('');
  });

  it.each([
    ['', 'file'],
    ['dir/sub/b.txt', 'b.txt'],
    ['C:\\dir\\c.txt', 'c.txt'],
    ['dir/', 'file'],
    ['..', 'file'],
    ['ünï 中.txt', 'ünï 中.txt'],
  ])('named %j has the base name %j', async (filename, name) => {
    const file = await upload(server, { filename, type: 'application/octet-stream' });
    expect(file.name).toBe(name);
  });

  it('accepts a field for its name, before or after the file', async () => {
    expect((await upload(server, { fields: { name: 'other.txt' } })).name).toBe('other.txt');
    expect((await upload(server, { fields: { name: '' } })).name).toBe('a.txt');
    const name = part('content-disposition: form-data; name="name"', 'before.txt');
    expect((await post(name + part(FILE, 'x') + END)).data).toMatchObject({ name: 'before.txt', size: 1 });
  });

  it('is the first part with a file name, in any field; further ones are dropped', async () => {
    const other = 'content-disposition: form-data; name="thing"; filename="t.bin"\r\ncontent-type: a/b';
    const { data } = await post(part(other, 'first') + part(FILE, 'second') + END);
    expect(data).toMatchObject({ name: 't.bin', media_type: 'a/b', size: 5 });
    expect(await kept()).toHaveLength(2);
  });

  it.each<[string, string | undefined]>([
    ['application/octet-stream', undefined],
    ['application/octet-stream', 'rubbish'],
    ['application/octet-stream', ''],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/plain', 'TEXT/Plain'],
    ['a/b', 'a/b'],
  ])('has type %s if its part specifies %j', async (type, said) => {
    const disposition = 'content-disposition: form-data; name="file"; filename="a"';
    const field = part('content-disposition: form-data; name="name"', 'b');
    const file = part(said === undefined ? disposition : `${disposition}\r\ncontent-type: ${said}`, 'x');
    expect((await post(field + file + END)).data).toMatchObject({ media_type: type });
    const later = part(`${disposition}\r\ncontent-type: text/plain`, 'x');
    expect((await post(file + later + END)).data).toMatchObject({ media_type: type });
  });

  it('is immediately available to another server of the home, and survives a restart', async () => {
    const other = await startServer({ home, clock });
    const { id } = await upload(server);
    expect((await other.fetch(`/api/v1/files/${id}`)).status).toBe(200);
    expect(await other.api('DELETE', `/files/${id}`)).toMatchObject({ code: 0, data: { deleted: true } });
    await other.close();
    await gone(id);

    const lasting = await upload(server);
    const later = await startServer({ home, clock });
    expect(await (await later.fetch(`/api/v1/files/${lasting.id}`)).text()).toBe('hello');
    await later.close();
  });

  it('is deleted a single time', async () => {
    const { id } = await upload(server);
    expect(await server.api('DELETE', `/files/${id}`)).toMatchObject({ code: 0, data: { deleted: true } });
    expect(await kept()).toEqual([]);
    expect(await server.api('DELETE', `/files/${id}`)).toMatchObject({
      status: 200,
      code: 40407,
      msg: 'file not found',
    });
    await gone(id);
  });

  it('whose bytes are missing is not found', async () => {
    const { id } = await upload(server);
    await rm(join(home, 'files', id));
    await gone(id);
  });

  it('whose record is unreadable is a storage failure', async () => {
    const { id } = await upload(server);
    await writeFile(join(home, 'files', `${id}.json`), '{');
    expect(await server.api('GET', `/files/${id}`)).toMatchObject({ status: 500, code: 50001 });
    expect(await server.api('DELETE', `/files/${id}`)).toMatchObject({ status: 200, code: 50003 });
  });
});

describe('expiry', () => {
  it.each([
    ['60', 60],
    ['1.9', 1],
    ['0', 0],
  ])('of %s seconds', async (seconds, floored) => {
    const file = await upload(server, { fields: { expires_in_sec: seconds } });
    expect(file.expires_at).toBe(new Date(clock.now() + floored * 1000).toISOString());
  });

  it.each(['-1', 'soon', '', 'Infinity', '1e300', 'NaN'])('of %j seconds means never', async (seconds) => {
    expect(await upload(server, { fields: { expires_in_sec: seconds } })).not.toHaveProperty('expires_at');
  });

  it('hides the upload, and removes its files', async () => {
    const { id } = await upload(server, { fields: { expires_in_sec: '60' } });
    const lasting = await upload(server);
    clock.advance(59_999);
    expect((await read(id)).status).toBe(200);
    clock.advance(1);
    await gone(id);
    expect(await server.api('DELETE', `/files/${id}`)).toMatchObject({ code: 40407 });
    await eventually(async () => expect(await kept()).toEqual([lasting.id, `${lasting.id}.json`]));
  });

  it('is swept at the next upload, and at the start with leftovers', async () => {
    await upload(server, { fields: { expires_in_sec: '0' } });
    const second = await upload(server, { fields: { expires_in_sec: '60' } });
    await eventually(async () => expect(await kept()).toEqual([second.id, `${second.id}.json`]));

    const old = new Date(Date.now() - 48 * 60 * 60 * 1000);
    const { utimes } = await import('node:fs/promises');
    for (const name of ['f_dead.tmp-upload', 'f_orphan', 'f_fresh']) await writeFile(join(home, 'files', name), 'x');
    for (const name of ['f_dead.tmp-upload', 'f_orphan']) await utimes(join(home, 'files', name), old, old);
    clock.advance(60_000);
    const next = await startServer({ home, clock });
    await eventually(async () => expect(await kept()).toEqual(['f_fresh']));
    await next.close();
  });
});

describe('a form', () => {
  it('without a file is refused', async () => {
    const answer = await post(part('content-disposition: form-data; name="file"', 'text') + END);
    expect(answer).toMatchObject({ status: 200, code: 40001 });
    expect(answer).toMatchObject({ details: [{ path: 'file', message: 'missing `file` field' }] });
  });

  it.each<[string, string, string | undefined]>([
    ['that is JSON', '{}', 'application/json'],
    ['that is urlencoded', 'a=b', 'application/x-www-form-urlencoded'],
    ['without a boundary', part(FILE, 'x') + END, 'multipart/form-data'],
    ['of another multipart type', part(FILE, 'x') + END, `multipart/mixed; boundary=${BOUNDARY}`],
    ['that ends in a file', part(FILE, 'x'), undefined],
    ['that ends in a header', `--${BOUNDARY}\r\n${FILE}`, undefined],
    ['of another boundary', `--yy\r\n${FILE}\r\n\r\nx\r\n--yy--\r\n`, undefined],
    ['with a header that is none', part(`${FILE}\r\n(bad): x`, 'x') + END, undefined],
    ['with endless headers', part(`${FILE}\r\nx-a: ${'a'.repeat(20_000)}`, 'x') + END, undefined],
    ['with a broken header behind a file', part(FILE, 'x') + part('\u0001', 'y') + END, undefined],
    [
      'with endless fields',
      `${part('content-disposition: form-data; name="a"', 'x').repeat(200)}${part(FILE, 'x')}${END}`,
      undefined,
    ],
    [
      'with an endless field',
      part('content-disposition: form-data; name="name"', 'x'.repeat(100_000)) + END,
      undefined,
    ],
    ['of nothing', '', undefined],
  ])('%s is refused and stores nothing', async (_what, body, type) => {
    expect(await post(body, type)).toMatchObject({ status: 200, code: 40001, data: null });
    expect(await kept()).toEqual([]);
  });

  it('may arrive in chunks of one byte', async () => {
    const body = part(FILE, 'in pieces') + END;
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1').setNoDelay(true);
    let received = '';
    socket.on('data', (data: Buffer) => (received += data.toString()));
    socket.write(
      `POST /api/v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.token}\r\ncontent-length: ${body.length}\r\ncontent-type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n`,
    );
    for (const char of body) {
      socket.write(char);
      await new Promise((resolve) => setImmediate(resolve));
    }
    await eventually(() => expect(received).toContain('"size":9'));
    socket.destroy();
  });

  it('whose client disconnects stores nothing', async () => {
    const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
    socket.write(
      `POST /api/v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.token}\r\ncontent-length: 1000000\r\ncontent-type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n--${BOUNDARY}\r\n${FILE}\r\n\r\n${'x'.repeat(1000)}`,
    );
    await eventually(async () => expect(await kept()).toHaveLength(1));
    socket.destroy();
    await once(socket, 'close');
    await eventually(async () => expect(await kept()).toEqual([]));
  });

  it('that the disk refuses is persistence.failure', async () => {
    // A file blocks the path of the folder.
    await rm(join(home, 'files'), { recursive: true, force: true });
    await writeFile(join(home, 'files'), '');
    const answer = await post(part(FILE, 'x'.repeat(100_000)) + END);
    expect(answer).toMatchObject({ status: 200, code: 50003 });
    await rm(join(home, 'files'));
  });
});

describe('a file above the limit', () => {
  it('is refused as file.too_large, and stores nothing', async () => {
    env.SERVICE_CODE_UPLOAD_MAX_BYTES = '100000';
    for (const size of [100_001, 3_000_000]) {
      const answer = await post(part(FILE, 'x'.repeat(size)) + END);
      expect(answer).toMatchObject({ status: 200, code: 41301, msg: 'file is larger than 100000 bytes', data: null });
      expect(answer.headers).toMatchObject({ connection: 'close' });
    }
    await eventually(async () => expect(await kept()).toEqual([]));
  });

  it('exceeds it by at least a byte, regardless of other parts; 0 means no limit', async () => {
    env.SERVICE_CODE_UPLOAD_MAX_BYTES = '1000';
    const dropped = part('content-disposition: form-data; name="other"; filename="b.txt"', 'y'.repeat(5000));
    const body = part(FILE, 'x'.repeat(1000)) + dropped + END;
    expect(await post(body)).toMatchObject({ code: 0, data: { size: 1000 } });
    env.SERVICE_CODE_UPLOAD_MAX_BYTES = '0';
    expect(await post(part(FILE, 'x'.repeat(200_000)) + END)).toMatchObject({ code: 0, data: { size: 200_000 } });
  });

  it.each(['1e3', '-1', 'many', ' '])('with the limit %j the default applies, 2 GiB', async (limit) => {
    expect(DEFAULT_MAX_BYTES).toBe(2 * 1024 ** 3);
    env.SERVICE_CODE_UPLOAD_MAX_BYTES = limit;
    expect(await post(part(FILE, 'x'.repeat(2000)) + END)).toMatchObject({ code: 0 });
  });
});

it('is refused if the home was removed, and does not recreate it', async () => {
  const away = `${home}.away`;
  await rename(home, away);
  expect(await post(part(FILE, 'x') + END)).toMatchObject({ status: 200, code: 50003 });
  await expect(stat(home)).rejects.toThrow('ENOENT');
  await rename(away, home);
  const { id } = await upload(server);
  expect(await kept()).toEqual([id, `${id}.json`]);
});

describe('input of a hostile client', () => {
  it.each([
    '../server.token',
    '..%2fserver.token',
    'f_',
    'f_../server.token',
    'f_/../server.token',
    'f_a/../../server.token',
    'f_a.json',
    'f_a:b',
    'f_a\0',
    'F_a',
    'f_' + 'a'.repeat(300),
    'f_a\n',
  ])('%j is no upload id', async (id) => {
    await mkdir(join(home, 'files'), { recursive: true });
    await writeFile(join(home, 'files', 'f_a.json'), '{}');
    await gone(id);
    expect(await server.api('DELETE', `/files/${encodeURIComponent(id)}`)).toMatchObject({ code: 40407 });
  });

  it('a record with another id is ignored', async () => {
    const { id } = await upload(server);
    const record = await readFile(join(home, 'files', `${id}.json`));
    await writeFile(join(home, 'files', 'f_alias.json'), record);
    await gone('f_alias');
  });

  it.each([
    ['text/html', 'attachment'],
    ['image/svg+xml', 'attachment'],
    ['IMAGE/SVG+XML', 'attachment'],
    ['application/xhtml+xml', 'attachment'],
    ['image/png', 'inline'],
    ['video/mp4', 'inline'],
    ['audio/mpeg', 'inline'],
  ])('of type %s is sent as %s', async (type, kind) => {
    const { data } = await post(
      part(`content-disposition: form-data; name="file"; filename="a.x"\r\ncontent-type: ${type}`, '<b>') + END,
    );
    const answer = await read(String(data?.id));
    expect(answer.headers.get('content-disposition')).toBe(`${kind}; filename="a.x"`);
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each(['rubbish', 'text', '/', 'a/b\x7f', 'te xt/html', 'text/html;\u00e9=\u00ff', 'text/"html"', ''])(
    'a type of %j creates valid headers',
    async (type) => {
      const { data } = await post(
        Buffer.from(
          part(`content-disposition: form-data; name="file"; filename="a"\r\ncontent-type: ${type}`, 'x') + END,
          'latin1',
        ),
      );
      if (data === null) return;
      const answer = await read(String(data.id));
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^[!#$%&'*+.^_`|~\w-]+\/[!#$%&'*+.^_`|~\w-]+$/);
    },
  );

  it('a name creates valid headers', async () => {
    for (const name of ['a"; x="\r\nset-cookie: a=b', '😀\u0000', 'x'.repeat(60_000), '../../etc/passwd']) {
      const { id, name: stored } = await upload(server, { fields: { name } });
      expect(stored.replaceAll('\r\n', '\n')).toBe(name.replaceAll('\r\n', '\n'));
      const answer = await read(id);
      expect(answer.status).toBe(200);
      expect(answer.headers.has('set-cookie')).toBe(false);
    }
  });
});

it('does not buffer a large upload in memory', async () => {
  const size = 100 * 1024 * 1024;
  const head = part(FILE, '').slice(0, -2);
  const tail = `\r\n${END}`;
  const chunk = Buffer.alloc(64 * 1024, 1);
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1');
  let received = '';
  socket.on('data', (data: Buffer) => (received += data.toString()));
  globalThis.gc?.();
  const before = process.memoryUsage().rss;
  let peak = before;
  socket.write(
    `POST /api/v1/files HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${server.token}\r\ncontent-length: ${head.length + size + tail.length}\r\ncontent-type: multipart/form-data; boundary=${BOUNDARY}\r\n\r\n${head}`,
  );
  for (let sent = 0; sent < size; sent += chunk.length) {
    if (!socket.write(chunk)) await once(socket, 'drain');
    peak = Math.max(peak, process.memoryUsage().rss);
  }
  socket.write(tail);
  await eventually(() => expect(received).toContain(`"size":${size}`));
  socket.destroy();
  expect((peak - before) / 1024 / 1024).toBeLessThan(60);
});
