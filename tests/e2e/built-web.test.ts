/**
 * The built server fetches a page with a reader that is installed next to the bundle. A proxy of the test replaces the
 * internet, and receives the address that the model named.
 */
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { makeBuiltHome } from '#support/built-home.ts';
import { spawnServer } from '#support/spawned-server.ts';
import { connect } from '#support/ws-client.ts';

test('a page is fetched through the proxy of the environment, and its text is extracted', async () => {
  const targets: string[] = [];
  const page = '<html><head><title>Wheels</title></head><body><p>They turn.</p></body></html>';
  const proxy = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', (head) => {
      targets.push(head.toString().split('\r\n', 1)[0] ?? '');
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.once('data', () => {
        socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: ${page.length}\r\n\r\n${page}`);
      });
    });
  });
  await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
  const { port } = z.object({ port: z.int() }).parse(proxy.address());
  const { home, project, model, remove } = await makeBuiltHome();
  const server = await spawnServer({ home, env: { http_proxy: `http://127.0.0.1:${port}`, no_proxy: '' } });
  try {
    const made = await server.api('POST', '/sessions', { metadata: { cwd: project } });
    const { id } = z.object({ id: z.string() }).parse(made.data);
    const events = await connect(server);
    await events.send({ type: 'subscribe', payload: { session_ids: [id], cursors: { [id]: { seq: 0 } } } });
    const fetches = (url: string) => ({ name: 'FetchURL', args: { url } });
    model.enqueue({ calls: [fetches('http://1.1.1.1/wheels'), fetches('http://127.0.0.2/')] });
    model.enqueue({ text: 'Done.' });
    await server.api('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text: 'go' }] });
    await events.waitFor(({ type }) => type === 'prompt.completed');
    const results = events.durable(id).flatMap(({ type, payload }) => (type === 'tool.result' ? [payload.output] : []));
    // The calls run concurrently.
    expect(results.toSorted()).toEqual([
      expect.stringMatching(/^The main text of http:\/\/1\.1\.1\.1\/wheels, .*\n\n# Wheels\n\nThey turn\.$/),
      expect.stringContaining('public internet'),
    ]);
    expect(targets).toEqual(['CONNECT 1.1.1.1:80 HTTP/1.1']);
    await events.close();
  } finally {
    await server.close();
    proxy.close();
    await remove();
  }
});
