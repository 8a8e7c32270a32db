/** Forms as they arrive at an HTTP server. */
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { eventually, until } from '#support/patience.ts';
import { RequestAborted, UnreadableBody } from '#utils/http/body.ts';
import { createForm, type FilePart } from '#utils/http/multipart.ts';

type OnFile = (part: FilePart, request: IncomingMessage) => Promise<void>;
interface Outcome {
  fields?: ReadonlyMap<string, string>;
  files: { filename: string; mediaType: string; content: string }[];
  error?: unknown;
}

/** The whole request of a form, or one whose body is cut. */
const requestOf = (body: string, sent = body, type = 'multipart/form-data; boundary=xx') =>
  `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${Buffer.byteLength(body)}\r\ncontent-type: ${type}\r\n\r\n${sent}`;

/** A server that reads each request as a form. */
async function formServer(onFile?: OnFile, idleMs = 60_000) {
  const outcomes: Outcome[] = [];
  const server = createServer((request, response) => {
    const files: Outcome['files'] = [];
    const take = async ({ filename, mediaType, stream }: FilePart) => {
      files.push({ filename, mediaType, content: await text(stream) });
    };
    createForm(request, idleMs)
      .read((part) => (onFile ? onFile(part, request) : take(part)))
      .then(
        (fields) => outcomes.push({ fields, files }),
        (error: unknown) => outcomes.push({ error, files }),
      )
      .finally(() => response.end());
  });
  const port = await listenDuringTest(server);
  async function post(body: string, type = 'multipart/form-data; boundary=xx'): Promise<Outcome> {
    const before = outcomes.length;
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(requestOf(body, body, type).replace('host: x', 'host: x\r\nconnection: close'));
    socket.resume();
    await once(socket, 'close');
    return until(() => outcomes[before]);
  }
  return { port, outcomes, post };
}

const part = (headers: string, content: string, boundary = 'xx') => `--${boundary}\r\n${headers}\r\n\r\n${content}\r\n`;
const field = (name: string, value: string) => part(`content-disposition: form-data; name="${name}"`, value);
const file = (headers = '', content = 'content', filename = 'a.txt', boundary = 'xx') =>
  part(`content-disposition: form-data; name="f"; filename="${filename}"${headers}`, content, boundary);
const TYPED = '\r\ncontent-type: text/plain';
const END = '--xx--\r\n';
const UNTYPED = 'application/octet-stream';

describe('a form', () => {
  it('has its fields, the last value of each, and its file', async () => {
    const { post } = await formServer();
    const { fields, files } = await post(`${field('a', '1')}${field('b', 'é')}${file(TYPED)}${field('a', '2')}${END}`);
    expect(Object.fromEntries(fields ?? [])).toEqual({ a: '2', b: 'é' });
    expect(files).toEqual([{ filename: 'a.txt', mediaType: 'text/plain', content: 'content' }]);
  });

  it('is read to its end after a file that is not the first', async () => {
    const { post } = await formServer();
    const big = 'x'.repeat(300_000);
    const { fields, files } = await post(`${file(TYPED)}${file(TYPED, big)}${field('last', '1')}${END}`);
    expect(files).toHaveLength(1);
    expect(fields?.get('last')).toBe('1');
  });

  it.each([
    ['dir/sub\\a.txt', 'a.txt'],
    ['née 中.txt', 'née 中.txt'],
  ])('has the base name of %j', async (name, base) => {
    const { post } = await formServer();
    expect((await post(file(TYPED, 'x', name.replace('\\', '\\\\')) + END)).files).toMatchObject([{ filename: base }]);
  });

  it('is whole with a hundred fields and refused with more', async () => {
    const { post } = await formServer();
    expect((await post(field('a', '1').repeat(100) + END)).fields?.size).toBe(1);
    await expectRefused(post(field('a', '1').repeat(101) + END), 'too many fields');
  });

  it('has fields of at most 64 KiB', async () => {
    const { post } = await formServer();
    expect((await post(field('a', 'x'.repeat(65_535)) + END)).fields?.get('a')).toHaveLength(65_535);
    await expectRefused(post(field('a', 'x'.repeat(65_537)) + END), 'the field a is too long');
  });

  it('has at most a thousand parts', async () => {
    const { post } = await formServer();
    expect((await post(file(TYPED).repeat(999) + END)).fields?.size).toBe(0);
    await expectRefused(post(file(TYPED).repeat(1001) + END), 'too many parts');
  });

  it.each(['text/plain', '', 'multipart/form-datas; boundary=xx', 'x multipart/form-data; boundary=xx'])(
    'is not what has the type %j',
    async (type) => {
      const { post } = await formServer();
      await expectRefused(post(field('a', '1') + END, type), 'Unsupported Media Type');
    },
  );

  it('may name its type in any case', async () => {
    const { post } = await formServer();
    expect((await post(field('a', '1') + END, 'Multipart/FORM-Data ; boundary=xx')).fields?.get('a')).toBe('1');
  });

  it('without a boundary or without an end is refused', async () => {
    const { post } = await formServer();
    await expectRefused(post(field('a', '1') + END, 'multipart/form-data'), 'the boundary is missing');
    await expectRefused(post(field('a', '1')), 'Body is not a valid form');
  });
});

async function expectRefused(outcome: Promise<Outcome>, message: string): Promise<void> {
  const { error } = await outcome;
  expect(error).toBeInstanceOf(UnreadableBody);
  expect(error).toMatchObject({ message: expect.stringContaining(message), answer: { name: 'validation.failed' } });
}

describe('the type of a file', () => {
  it.each([
    ['that is declared', file(TYPED), 'text/plain'],
    [
      'that is declared before its name',
      part('content-type: text/plain\r\ncontent-disposition: form-data; name="f"; filename="a"', 'x'),
      'text/plain',
    ],
    ['that is declared with capitals and spaces', file('\r\nContent-TYPE:  Text/Plain ; charset=x'), 'text/plain'],
    ['of another kind', file('\r\ncontent-type: Image/X-y+z'), 'image/x-y+z'],
    ['that is not declared', file(), UNTYPED],
    ['that is empty', file('\r\ncontent-type: '), UNTYPED],
    ['that has one half', file('\r\ncontent-type: text'), UNTYPED],
    ['that another header mentions', file('\r\nx-content-type: text/plain'), UNTYPED],
    ['that its content mentions', file('', 'x\r\ncontent-type: text/plain'), UNTYPED],
    [
      'that an earlier field declares',
      `${part(`content-disposition: form-data; name="a"${TYPED}`, '1')}${file()}`,
      UNTYPED,
    ],
    ['that a later file declares', `${file()}${file(TYPED)}`, UNTYPED],
    ['declared behind a field', `${field('a', '1')}${file(TYPED)}`, 'text/plain'],
    [
      'declared behind a field that mentions a file',
      `${field('a', 'content-disposition: filename')}${file(TYPED)}`,
      'text/plain',
    ],
  ])('%s', async (_name, body, mediaType) => {
    const { post } = await formServer();
    expect((await post(body + END)).files).toMatchObject([{ mediaType }]);
  });

  it.each([
    ['quoted', 'multipart/form-data; boundary="x y"', 'x y'],
    ['followed by a parameter', 'multipart/form-data; boundary=xx;charset=utf-8', 'xx'],
    ['in another case of the name', 'multipart/form-data; BOUNDARY=xx', 'xx'],
  ])('is that of the part where the boundary is %s', async (_name, type, boundary) => {
    const { post } = await formServer();
    for (const [headers, mediaType] of [
      [TYPED, 'text/plain'],
      ['', UNTYPED],
    ] as const) {
      const body = `${file(headers, 'x', 'a', boundary)}--${boundary}--\r\n`;
      expect((await post(body, type)).files).toMatchObject([{ mediaType }]);
    }
  });
});

describe('a failure', () => {
  const later = async (stream: FilePart['stream']) => {
    await once(stream.resume(), 'end').catch(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
  };

  it('of the receiver ends the reading: an error with a code closes the connection, another is passed on', async () => {
    const coded = new ServiceError('file.too_large', 'too large');
    const bug = new Error('a bug');
    for (const cause of [coded, bug]) {
      const { post } = await formServer(() => Promise.reject(cause));
      const { error } = await post(file(TYPED, 'x'.repeat(1_000_000)) + END);
      if (cause === bug) expect(error).toBe(bug);
      else expect(error).toMatchObject({ name: 'UnreadableBody', answer: coded });
    }
  });

  it('of the receiver at the end of the body is reported', async () => {
    const { post } = await formServer(async ({ stream }) => {
      await text(stream);
      throw new Error('the disk is full');
    });
    expect(await post(file(TYPED) + END)).toMatchObject({ error: { message: 'the disk is full' } });
  });

  it('of the body reaches the reader of the file, and waits until that has settled', async () => {
    let settled = false;
    let failure: unknown;
    const { post } = await formServer(async ({ stream }) => {
      stream.on('error', (error) => (failure = error));
      await later(stream);
      settled = true;
    });
    const { error } = await post(`${file(TYPED)}${field('a', 'x'.repeat(70_000))}${END}`);
    expect(error).toBeInstanceOf(UnreadableBody);
    expect(settled).toBe(true);
    const { error: cut } = await post(file(TYPED).slice(0, -2));
    expect(cut).toBeInstanceOf(UnreadableBody);
    expect(failure).toMatchObject({ message: 'Unexpected end of form' });
  });

  it('is that the client has left, and waits likewise', async () => {
    let isRead = false;
    let settled = false;
    const { port, outcomes } = await formServer(async ({ stream }) => {
      isRead = true;
      await later(stream);
      settled = true;
    });
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf(file(TYPED), file(TYPED).slice(0, -2)));
    await until(() => isRead);
    socket.destroy();
    const { error } = await until(() => outcomes[0]);
    expect(error).toBeInstanceOf(RequestAborted);
    expect(settled).toBe(true);
  });

  it('is that the client has left before the whole body was read, although it has arrived', async () => {
    let request: IncomingMessage | undefined;
    let failure: unknown;
    const { port, outcomes } = await formServer(async ({ stream }, its) => {
      request = its;
      await new Promise((resolve) => its.once('close', resolve));
      failure = await text(stream).catch((error: unknown) => error);
    });
    const body = file(TYPED, 'x'.repeat(100_000)) + END;
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf(body));
    await until(() => request?.complete);
    socket.destroy();
    const { error } = await until(() => outcomes[0]);
    expect(error).toBeInstanceOf(RequestAborted);
    expect(failure).toBeInstanceOf(RequestAborted);
  });

  it('is that the client had left before the reading began', async () => {
    const errors: unknown[] = [];
    const server = createServer((request) => {
      void once(request, 'close')
        .catch(() => undefined)
        .then(() => createForm(request, 60_000).read(() => Promise.resolve()))
        .catch((error: unknown) => errors.push(error));
    });
    const port = await listenDuringTest(server);
    const body = file(TYPED) + END;
    for (const sent of [body, body.slice(0, -2)]) {
      errors.length = 0;
      const socket = connect(port, '127.0.0.1');
      socket.end(requestOf(body, sent));
      await eventually(() => expect(errors[0]).toBeInstanceOf(RequestAborted));
    }
  });

  it('is that the client sends nothing', async () => {
    const { port, outcomes } = await formServer(undefined, 50);
    const socket = connect(port, '127.0.0.1');
    socket.write(requestOf('x', ''));
    await once(socket.resume(), 'close');
    await eventually(() => expect(outcomes[0]?.error).toBeInstanceOf(RequestAborted));
  });
});
