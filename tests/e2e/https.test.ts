/** `--https`: certificates that the server makes, and those of files; `--qr`. */
import { X509Certificate } from 'node:crypto';
import { copyFile, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { spawn } from 'node-pty';
import { expect, it, onTestFinished } from 'vitest';
import { readCertificate } from '#server/cli/certificate.ts';
import { makeTestCertificate } from '#support/proxies.ts';
import { until } from '#support/patience.ts';
import { rawRequest } from '#support/raw-request.ts';
import { spawnServer, type SpawnOptions } from '#support/spawned-server.ts';
import { temporaryHome } from '#support/temporary-home.ts';
import { tlsRequest } from '#support/tls-request.ts';
import { WebSocket } from 'ws';

async function startDuringTest(options: SpawnOptions) {
  const server = await spawnServer(options);
  onTestFinished(() => server.close());
  return server;
}
const fingerprint = async (file: string) => new X509Certificate(await readFile(file)).fingerprint256;

it('makes a certificate once, for the bind host, and speaks TLS only', async () => {
  const home = await temporaryHome();
  const cert = join(home, 'server/tls/cert.pem');
  const first = await spawnServer({ home, args: ['--https', '--base-path', '/code'] });
  const ca = await readFile(cert);
  const health = await tlsRequest(`${first.url}/code/api/v1/healthz`, { ca });
  expect(health).toMatchObject({ status: 200, fingerprint: await fingerprint(cert) });
  expect(first.output()).toContain(`https://127.0.0.1:${new URL(first.url).port}/code/#token=${first.token}`);
  await expect(rawRequest(first.url.replace('https', 'http'), { path: '/' })).rejects.toThrow(/hang up|ECONNRESET/);
  const modes = await Promise.all(['', 'cert.pem', 'key.pem'].map((name) => stat(join(home, 'server/tls', name))));
  expect(modes.map(({ mode }) => (mode & 0o777).toString(8))).toEqual(['700', '600', '600']);

  const socket = new WebSocket(`${first.url.replace('https', 'wss')}/code/api/v1/ws`, {
    ca,
    headers: { authorization: `Bearer ${first.token}` },
  });
  const hello = await new Promise((resolve, reject) => socket.once('message', resolve).once('error', reject));
  expect(String(hello)).toContain('server_hello');
  socket.close();
  const instances = await tlsRequest(`${first.url}/asyncapi.json`, {
    ca,
    headers: { authorization: `Bearer ${first.token}` },
  });
  expect(instances.text).toContain('"protocol":"wss"');
  expect(await first.stop()).toBe(0);

  const again = await spawnServer({ home, args: ['--https'] });
  expect((await tlsRequest(again.url, { ca })).fingerprint).toBe(health.fingerprint);
  await again.stop();

  // For another bind host another one is made.
  await startDuringTest({ home, args: ['--https', '--host', '127.0.0.2'] });
  expect(await fingerprint(cert)).not.toBe(health.fingerprint);
  expect(new X509Certificate(await readFile(cert)).checkIP('127.0.0.2')).toBe('127.0.0.2');
});

it('servers that start at the same time in one home use one pair in the end', async () => {
  const home = await temporaryHome();
  const files = { cert: join(home, 'server/tls/cert.pem'), key: join(home, 'server/tls/key.pem') };
  const servers = await Promise.all([1, 2, 3].map(() => startDuringTest({ home, args: ['--https'] })));
  // Throws unless the key belongs to the certificate.
  await readCertificate(files);
  const expected = await fingerprint(files.cert);
  for (const { url } of servers) {
    await until(async () => (await tlsRequest(url, { rejectUnauthorized: false })).fingerprint === expected);
    expect((await tlsRequest(`${url}/api/v1/healthz`, { ca: await readFile(files.cert) })).status).toBe(200);
  }
  expect(servers.map((server) => server.errors())).toEqual(['', '', '']);
});

it('warns of no plain HTTP on a bind that others reach, and answers as there', async () => {
  const server = await startDuringTest({ args: ['--https', '--host', '0.0.0.0'] });
  expect(server.output()).toMatch(/https:\/\/localhost:/);
  expect(server.errors()).not.toContain('plain HTTP');
  const shutdown = await tlsRequest(`${server.url}/api/v1/shutdown`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.token}` },
    rejectUnauthorized: false,
  });
  expect(shutdown.text).toContain('40400');
});

it('replaces a certificate that ends within 30 days', async () => {
  const home = await temporaryHome();
  const folder = join(home, 'server/tls');
  const short = await makeTestCertificate(folder, 'short');
  await copyFile(short.cert, join(folder, 'cert.pem'));
  await copyFile(short.key, join(folder, 'key.pem'));
  await startDuringTest({ home, args: ['--https'] });
  expect(await fingerprint(join(folder, 'cert.pem'))).not.toBe(await fingerprint(short.cert));
});

it('uses changed files for new connections, and warns once of those that cannot be used', async () => {
  const home = await temporaryHome();
  const folder = join(home, 'own');
  const [first, second] = [await makeTestCertificate(folder, 'first'), await makeTestCertificate(folder, 'second')];
  const files = { cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
  const use = async ({ cert, key }: typeof files) => {
    await copyFile(cert, files.cert);
    await copyFile(key, files.key);
  };
  await use(first);
  const server = await startDuringTest({ home, args: ['--https', '--cert', files.cert, '--key', files.key] });
  const seen = async () => (await tlsRequest(server.url, { rejectUnauthorized: false })).fingerprint;
  expect(await seen()).toBe(await fingerprint(first.cert));

  await writeFile(files.cert, 'nothing');
  await until(() => server.errors().includes('The changed certificate is not used'));
  expect(await seen()).toBe(await fingerprint(first.cert));
  await writeFile(files.cert, 'nothing else');
  await use(second);
  const expected = await fingerprint(second.cert);
  await until(async () => (await seen()) === expected);
  expect(server.errors().match(/The changed certificate is not used/g)).toHaveLength(1);
});

it('does not start with files that cannot be used, and names them', async () => {
  const home = await temporaryHome();
  const folder = join(home, 'own');
  const [first, second] = [await makeTestCertificate(folder, 'first'), await makeTestCertificate(folder, 'second')];
  await mkdir(join(folder, 'none'));
  const start = (cert: string, key: string) => spawnServer({ home, args: ['--https', '--cert', cert, '--key', key] });
  await expect(start(join(folder, 'missing'), first.key)).rejects.toThrow(/ended with 1:[^]*own\/missing/);
  await expect(start(first.cert, second.key)).rejects.toThrow(/ended with 1:[^]*second\.key\.pem does not belong/);
  await expect(start(first.key, first.key)).rejects.toThrow(/ended with 1:[^]*first\.key\.pem contains no certificate/);
});

it('--qr prints a QR code on a terminal only', async () => {
  const home = await temporaryHome();
  const piped = await startDuringTest({ home, args: ['--qr'] });
  expect(piped.output()).not.toMatch(/[█▀▄]/);
  const command = join(import.meta.dirname, '../../bin/service-code.cjs');
  const terminal = spawn(process.execPath, [command, '--port', '0', '--no-open', '--qr'], {
    env: { ...process.env, SERVICE_CODE_HOME: home },
    cols: 120,
    rows: 60,
  });
  let text = '';
  terminal.onData((piece) => (text += piece));
  const ended = new Promise<void>((resolve) => terminal.onExit(() => resolve()));
  onTestFinished(async () => {
    terminal.kill('SIGTERM');
    await ended;
  });
  await until(() => /Press Ctrl\+C to stop[^]*[█▀▄]{5}/.test(text));
});
