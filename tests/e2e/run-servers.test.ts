/** `service-code run` and servers with TLS and a path: found by the home, and named by their address. */
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { makeBuiltHome, type BuiltHome } from '#support/built-home.ts';
import { startCommand, type CommandOptions } from '#support/run-command.ts';
import { spawnServer, type SpawnedServer } from '#support/spawned-server.ts';

async function run(base: BuiltHome, args: string[], options: Partial<CommandOptions> = {}) {
  const running = startCommand(['run', ...args], { home: base.home, cwd: base.project, ...options });
  onTestFinished(() => void running.child.kill('SIGKILL'));
  const code = await running.exited;
  return { code, out: running.stdout(), err: running.stderr(), lines: running.lines };
}

describe.each([
  ['--https', ['--https'], '/'],
  ['--base-path', ['--base-path', '/code'], '/code/'],
  ['both', ['--https', '--base-path', '/code'], '/code/'],
])('a server with %s', (_what, args, path) => {
  let base: BuiltHome;
  let server: SpawnedServer;
  const isTls = args.includes('--https');

  beforeAll(async () => {
    base = await makeBuiltHome();
    server = await spawnServer({ home: base.home, args });
  });
  afterAll(async () => {
    await server.close();
    await base.remove();
  });

  /** Another home, in which the server is not found. */
  const elsewhere = () => join(base.root, 'elsewhere');
  const address = () => `${server.url}${path}`;
  const env = () => ({
    SERVICE_CODE_TOKEN: server.token,
    ...(isTls && { NODE_EXTRA_CA_CERTS: join(base.home, 'server/tls/cert.pem') }),
  });

  it('is found by its home, and prints events and the result', async () => {
    base.model.enqueue({ text: 'Found.' });
    const { code, err, lines } = await run(base, ['Hi', '--json']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const types = lines().map(({ type }) => type);
    for (const type of ['session', 'turn.started', 'assistant.delta', 'prompt.completed'])
      expect(types).toContain(type);
    expect(lines().at(-1)).toMatchObject({ type: 'result', reason: 'completed', text: 'Found.' });
  });

  it('uploads files and rejects what needs an approval', async () => {
    base.model.enqueue({ calls: [{ name: 'Bash', args: { command: 'rm -rf build' } }] });
    base.model.enqueue({ text: 'Not allowed.' });
    const file = join(base.home, 'config.toml');
    expect(await run(base, ['Clean up', '--file', file])).toMatchObject({ code: 3, out: 'Not allowed.\n' });
    expect(JSON.stringify(base.model.requests.at(-1)?.body)).toContain('config.toml');
  });

  it('is used by its address', async () => {
    base.model.enqueue({ text: 'Named.' });
    expect(await run(base, ['Hi', '--url', address()], { home: elsewhere(), env: env() })).toMatchObject({
      code: 0,
      out: 'Named.\n',
      err: '',
    });
  });

  it('refuses a wrong token with 4', async () => {
    const wrong = { ...env(), SERVICE_CODE_TOKEN: 'wrong' };
    expect(await run(base, ['Hi', '--url', address()], { home: elsewhere(), env: wrong })).toMatchObject({
      code: 4,
      out: '',
    });
  });

  it.runIf(isTls)('is not used by its address where its certificate is unknown', async () => {
    const { SERVICE_CODE_TOKEN } = env();
    const asked = base.model.requests.length;
    const options = { home: elsewhere(), env: { SERVICE_CODE_TOKEN } };
    expect(await run(base, ['Hi', '--url', address()], options)).toMatchObject({ code: 4, out: '' });
    expect(base.model.requests).toHaveLength(asked);
  });
});
