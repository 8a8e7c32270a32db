/** Starts nginx and Caddy with the files of `deploy/`, on ports and with paths of a test. */
import { execFileSync, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { until } from './patience.ts';
import { isOpen } from './ports.ts';

const NGINX = '/usr/sbin/nginx';
const CADDY = '/usr/bin/caddy';
const deployFile = (name: string) => readFile(resolve(import.meta.dirname, '../../deploy', name), 'utf8');

export interface Proxy {
  name: string;
  isInstalled: boolean;
  /** Listens on `port` with TLS, before the server at `upstream`; stops at the end of the test. */
  start(folder: string, port: number, upstream: URL): Promise<void>;
}

export const proxies: readonly Proxy[] = [
  { name: 'nginx', isInstalled: existsSync(NGINX), start: startNginx },
  { name: 'Caddy', isInstalled: existsSync(CADDY), start: startCaddy },
];

/** Makes a self-signed certificate for `code.example.org`; returns the paths of its files. */
export async function makeTestCertificate(folder: string, name: string): Promise<{ cert: string; key: string }> {
  await mkdir(folder, { recursive: true });
  const cert = join(folder, `${name}.cert.pem`);
  const key = join(folder, `${name}.key.pem`);
  const names = 'subjectAltName=DNS:code.example.org,DNS:localhost,IP:127.0.0.1';
  const request = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '9'];
  const files = ['-subj', `/CN=${name}`, '-addext', names, '-keyout', key, '-out', cert];
  execFileSync('openssl', [...request, ...files], { stdio: 'ignore' });
  return { cert, key };
}

async function startNginx(folder: string, port: number, upstream: URL): Promise<void> {
  const { cert, key } = await makeTestCertificate(folder, 'nginx');
  const site = (await deployFile('nginx.conf'))
    .replace('listen 443 ssl', `listen 127.0.0.1:${port} ssl`)
    .replace('/etc/ssl/service-code/cert.pem', cert)
    .replace('/etc/ssl/service-code/key.pem', key)
    .replace('/var/log/nginx/service-code.log', join(folder, 'access.log'))
    .replace('http://127.0.0.1:58627', upstream.origin);
  const file = join(folder, 'nginx.conf');
  const user = process.getuid?.() === 0 ? 'user root;' : '';
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  await writeFile(
    file,
    `${user} pid ${join(folder, 'nginx.pid')}; events {}\nhttp {\n${temporary.join('\n')}\n${site}\n}\n`,
  );
  const args = ['-c', file, '-p', folder, '-e', join(folder, 'error.log'), '-g', 'daemon off;'];
  await listening(port, NGINX, args);
}

async function startCaddy(folder: string, port: number, upstream: URL): Promise<void> {
  const { cert, key } = await makeTestCertificate(folder, 'caddy');
  // All names arrive, so that the server decides about them.
  const site = (await deployFile('Caddyfile'))
    .replace('code.example.org {', `:${port} {\n\tbind 127.0.0.1\n\ttls ${cert} ${key}`)
    .replace('127.0.0.1:58627', upstream.host);
  const file = join(folder, 'Caddyfile');
  await writeFile(file, `{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system ${folder}\n}\n${site}`);
  await listening(port, CADDY, ['run', '--adapter', 'caddyfile', '--config', file], { XDG_CONFIG_HOME: folder });
}

/** Starts a program and waits until it listens; stops it at the end of the test. */
async function listening(port: number, program: string, args: string[], env: NodeJS.ProcessEnv = {}): Promise<void> {
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, ...env } });
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  onTestFinished(async () => {
    child.kill('SIGTERM');
    await ended;
  });
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${program} has ended: ${errors}`);
    return isOpen(port);
  }, `${program} listens`);
}
