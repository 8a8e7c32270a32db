#!/usr/bin/env node
// Starts the built server with the offline demo model in a throw-away home, with a small project to play in.
// Arguments go to the server: npm run demo -- --port 4000 --no-open
import { execFileSync, spawn } from 'node:child_process';
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const server = fileURLToPath(new URL('../.output/server/index.mjs', import.meta.url));
const root = await mkdtemp(join(tmpdir(), 'service-code-demo-'));
const home = join(root, 'home');
const project = join(root, 'project');

await mkdir(join(project, 'src'), { recursive: true });
await writeFile(
  join(project, 'README.md'),
  '# A small project\n\nHere the demo model may read, search and change files.\n',
);
await writeFile(join(project, 'src', 'greet.js'), 'export const greet = (name) => `Hello, ${name}!`;\n');
await writeFile(
  join(project, 'src', 'main.js'),
  "import { greet } from './greet.js';\n\nconsole.log(greet('world'));\n",
);
execFileSync('git', ['init', '--quiet', project]);

const child = spawn(process.execPath, [server, '--demo', ...process.argv.slice(2)], {
  cwd: project,
  env: { ...process.env, SERVICE_CODE_HOME: home },
  stdio: 'inherit',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));

/** The running server's address and token, once it has written them. */
async function access() {
  for (;;) {
    try {
      const [file] = await readdir(join(home, 'server', 'instances'));
      const { port, heartbeat_at, started_at } = JSON.parse(
        await readFile(join(home, 'server', 'instances', file), 'utf8'),
      );
      const token = await readFile(join(home, 'server.token'), 'utf8');
      const url = `http://127.0.0.1:${port}`;
      if (port && heartbeat_at >= started_at && (await fetch(`${url}/api/v1/healthz`)).ok) return { url, token };
    } catch {
      // Not up yet.
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const started = access().then(({ url, token }) =>
  fetch(`${url}/api/v1/workspaces`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ root: project, name: 'Demo project' }),
  }),
);
const code = await Promise.race([
  new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1))),
  started.then(() => new Promise((resolve) => child.once('exit', (exitCode) => resolve(exitCode ?? 1)))),
]);
await rm(root, { recursive: true, force: true });
process.exit(code);
