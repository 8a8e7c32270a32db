/** Either side is killed: the editor, the bridge, the server. */
import { once } from 'node:events';
import { access } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { choose } from '#support/acp-editor.ts';
import { startAcp, type AcpProcess } from '#support/acp-process.ts';
import { makeBuiltHome } from '#support/built-home.ts';
import { useBuiltServer } from '#support/built-server.ts';
import { until } from '#support/patience.ts';
import { spawnServer } from '#support/spawned-server.ts';

const base = useBuiltServer();
let editor: AcpProcess | undefined;

afterEach(async () => {
  editor?.process.kill('SIGKILL');
  await editor?.exited;
});

/** Forwards connections to a server, except the first one that answers an approval, which is reset. */
async function startRelay(target: string): Promise<string> {
  let isReset = false;
  const relay = createServer((client) => {
    const server = connect(Number(new URL(target).port), '127.0.0.1');
    client.on('error', () => server.destroy()).on('close', () => server.destroy());
    server.on('error', () => client.destroy()).on('close', () => client.destroy());
    server.pipe(client);
    client.on('data', (bytes) => {
      if (isReset || !/^POST \S+\/approvals\//.test(bytes.toString('latin1'))) return void server.write(bytes);
      isReset = true;
      client.resetAndDestroy();
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  onTestFinished(() => void relay.close());
  const { port } = z.object({ port: z.number() }).parse(relay.address());
  return `http://127.0.0.1:${port}`;
}

it('requests permission again when the answer did not reach the server', async () => {
  editor = await startAcp({ ...base.server, url: await startRelay(base.server.url) });
  editor.permit(choose('allow_once'));
  const id = await editor.open(base.base.project);
  base.base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'touch made && true' } }] });
  base.base.model.enqueue({ text: 'Made.' });
  expect(await editor.prompt(id, 'Go')).toBe('end_turn');
  expect(editor.permissions).toHaveLength(2);
  await access(join(base.base.project, 'made'));
});

const connections = z.object({ connections: z.array(z.unknown()) });

it('ends with the input of the editor, and leaves the turn to other clients', async () => {
  editor = await startAcp(base.server);
  const id = await editor.open(base.base.project);
  const answer = base.base.model.enqueue({ text: 'For later.', hold: true });
  void editor.prompt(id, 'Go').catch(() => {});
  await answer.sent;
  expect(await editor.close()).toBe(0);
  await until(async () => connections.parse(await base.ok('GET', '/connections')).connections.length === 0);
  answer.release();
  await until(async () => JSON.stringify(await base.ok('GET', `/sessions/${id}/messages`)).includes('For later.'));
});

it('leaves a working server when it is killed itself', async () => {
  editor = await startAcp(base.server);
  const id = await editor.open(base.base.project);
  const answer = base.base.model.enqueue({ text: 'For later.', hold: true });
  void editor.prompt(id, 'Go').catch(() => {});
  await answer.sent;
  editor.process.kill('SIGKILL');
  await editor.exited;
  await until(async () => connections.parse(await base.ok('GET', '/connections')).connections.length === 0);
  answer.release();
  await until(async () => JSON.stringify(await base.ok('GET', `/sessions/${id}/messages`)).includes('For later.'));

  editor = await startAcp(base.server);
  await editor.agent.request('session/load', { sessionId: id, cwd: base.base.project, mcpServers: [] });
  expect(editor.text('agent_message_chunk')).toBe('For later.');
});

it('fails the prompt of a server that was killed, and continues with the next server on its address', async () => {
  const home = await makeBuiltHome();
  const first = await spawnServer({ home: home.home });
  const port = new URL(first.url).port;
  editor = await startAcp(first);
  const id = await editor.open(home.project);
  const answer = home.model.enqueue({ text: 'Half', hold: true });
  const reply = editor.prompt(id, 'Go');
  const failure = reply.catch((error: unknown) => error);
  await answer.sent;
  await until(() => editor?.text('agent_message_chunk') === 'Half');
  await first.stop('SIGKILL');

  const second = await spawnServer({ home: home.home, args: ['--port', port] });
  expect(await failure).toMatchObject({ code: -32603, message: expect.stringMatching(/stopped/) });
  home.model.enqueue({ text: ' Whole.' });
  expect(await editor.prompt(id, 'Again')).toBe('end_turn');
  expect(editor.text('agent_message_chunk')).toBe('Half Whole.');
  await editor.close();
  await second.close();
  await home.remove();
});

it('ends a prompt as cancelled while the server is gone', async () => {
  const home = await makeBuiltHome();
  const server = await spawnServer({ home: home.home });
  editor = await startAcp(server);
  const id = await editor.open(home.project);
  const answer = home.model.enqueue({ text: 'Half', hold: true });
  const reply = editor.prompt(id, 'Go');
  await answer.sent;
  await until(() => editor?.text('agent_message_chunk') === 'Half');
  await server.stop('SIGKILL');
  await editor.agent.notify('session/cancel', { sessionId: id });
  expect(await reply).toBe('cancelled');
  await editor.close();
  await server.close();
  await home.remove();
});
