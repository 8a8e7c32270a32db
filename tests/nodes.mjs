// Runs end-to-end tests of the built output with other versions of Node, whose binaries the npm package `node` brings:
// `npm run check:nodes`, outside the check. Build first.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const VERSIONS = ['22', '24'];
const FILES = ['built-server', 'run', 'acp', 'page-story-demo', 'page-story-day', 'crash', 'search'];

const folder = mkdtempSync(join(tmpdir(), 'service-code-nodes-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
const run = (command, args, env = process.env) => spawnSync(command, args, { stdio: 'inherit', env }).status === 0;

const failed = VERSIONS.filter((version) => {
  const prefix = join(folder, version);
  // The package's script chooses the binary of the system.
  const isInstalled = run('npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', `node@${version}`]);
  const PATH = `${join(prefix, 'node_modules', 'node', 'bin')}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH };
  if (!isInstalled || !run('node', ['-e', `process.exit(process.version.startsWith("v${version}.") ? 0 : 1)`], env))
    return true;
  const files = FILES.map((name) => `tests/e2e/${name}.test.ts`);
  return !run('node', ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', '--maxWorkers=2', ...files], env);
});
const versions = (failed.length === 0 ? VERSIONS : failed).join(' and ');
process.stdout.write(`${failed.length === 0 ? 'passed' : 'failed'} with Node ${versions}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
