/** Connections that are open when the token is replaced. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { rotateToken } from '#server/auth/token.ts';
import { openTerminal, viewTerminal } from '#support/terminals.ts';
import { startWorld, type World } from '#support/world.ts';
import { connect, type WsClient } from '#support/ws-client.ts';

const PASSWORD = 'a-password';

let world: World;
beforeEach(async () => {
  world = await startWorld({ env: () => ({ ...process.env, SERVICE_CODE_PASSWORD: PASSWORD }) });
});
afterEach(() => world.close());

const answersPing = async (client: WsClient, nonce: string) => {
  client.sendRaw(JSON.stringify({ type: 'ping', payload: { nonce } }));
  await client.waitFor(({ type, payload }) => type === 'pong' && payload.nonce === nonce);
};

const REPLACED = { code: 4401, reason: 'token replaced' };

it('a rotation closes those that used the old token, in any form, and no others', async () => {
  const { server } = world;
  const old = await connect(server);
  const oldPage = await connect(server, { token: null, protocols: [`service-code.bearer.${server.token}`] });
  const withPassword = await connect(server, { token: PASSWORD });
  const pageWithPassword = await connect(server, { token: null, protocols: [`service-code.bearer.${PASSWORD}`] });
  const token = await rotateToken(server.home);
  const rotated = await connect({ url: server.url, token });
  expect([await old.closed, await oldPage.closed]).toEqual([REPLACED, REPLACED]);
  // The next rotation closes `rotated`; the check that closes it covers the password connections, too.
  await rotateToken(server.home);
  await answersPing(rotated, 'before the next check');
  expect(await rotated.closed).toEqual(REPLACED);
  await answersPing(withPassword, 'still here');
  await answersPing(pageWithPassword, 'still here');
  await withPassword.close();
  await pageWithPassword.close();
});

it('terminals continue without the viewers that used the old token, whose input is ignored', async () => {
  const { server } = world;
  const { id } = await world.session();
  const terminal = await openTerminal(world, id);
  const [old, thief] = [await connect(server), await connect(server)];
  const stolen = viewTerminal(thief, terminal);
  await stolen.send('attach');
  await stolen.send('input', { data: 'echo one-$((1+1))\n' });
  await stolen.until(/one-2/);
  // A client that does not answer the close and keeps sending.
  thief.pause();
  const token = await rotateToken(server.home);
  expect(await old.closed).toEqual(REPLACED);
  const payload = { session_id: id, terminal_id: terminal.id, data: 'echo stolen-$((1+1))\n' };
  thief.sendRaw(JSON.stringify({ type: 'terminal_input', id: '9', payload }));
  const rotated = await connect({ url: server.url, token });
  const viewed = viewTerminal(rotated, terminal);
  await viewed.send('attach');
  await viewed.send('input', { data: 'echo two-$((1+1))\n' });
  await viewed.until(/two-2/);
  expect(viewed.text()).not.toContain('stolen');
  thief.resume();
  expect(await thief.closed).toEqual(REPLACED);
  await rotated.close();
});

it('keepConnections closes none, until the next rotation without it', async () => {
  const { server } = world;
  const client = await connect(server);
  const second = await rotateToken(server.home, { keepConnections: true });
  const rotated = await connect({ url: server.url, token: second });
  await expect(connect({ url: server.url, token: second }, { token: server.token })).rejects.toMatchObject({
    status: 401,
  });
  const third = await rotateToken(server.home);
  // The third token also closes the connection that is older than the second.
  expect([await rotated.closed, await client.closed]).toEqual([REPLACED, REPLACED]);
  const last = await connect({ url: server.url, token: third });
  await answersPing(last, 'still here');
  await last.close();
});
