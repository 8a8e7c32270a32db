// Starts the built server with the offline demo model in a throw-away home, with a small project to play in.
// Arguments go to the server: npm run demo -- --port 4000 --no-open
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const root = await mkdtemp(join(tmpdir(), 'service-code-demo-'));
process.on('exit', () => rmSync(root, { recursive: true, force: true }));
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

/** The running server's address and token, once it has written them. */
async function access() {
  for (;;) {
    try {
      const [file] = await readdir(join(home, 'server', 'instances'));
      const { port } = JSON.parse(await readFile(join(home, 'server', 'instances', file), 'utf8'));
      const token = await readFile(join(home, 'server.token'), 'utf8');
      const url = `http://127.0.0.1:${port}`;
      if (port && (await fetch(`${url}/api/v1/meta`, { headers: { authorization: `Bearer ${token}` } })).ok) {
        return { url, token };
      }
    } catch {
      // Not up yet.
    }
    await delay(50, undefined, { ref: false });
  }
}

// In this process, so that a Ctrl+C reaches the server once: it takes a second one for impatience.
const ownHome = process.env.SERVICE_CODE_HOME;
process.env.SERVICE_CODE_HOME = home;
process.chdir(project);
process.argv.push('--demo');
await import('../.output/server/index.mjs');

const { url, token } = await access();
// What the server starts has only variables that the user set.
if (ownHome === undefined) delete process.env.SERVICE_CODE_HOME;
else process.env.SERVICE_CODE_HOME = ownHome;
await fetch(`${url}/api/v1/workspaces`, {
  method: 'POST',
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify({ root: project, name: 'Demo project' }),
});
