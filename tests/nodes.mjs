// Runs end-to-end tests of the built output with other versions of Node, whose binaries the npm package `node` brings:
// `npm run check:nodes [-- <version> …]`, outside the check. Build first.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';

const VERSIONS = ['22', '24'];
const STORIES = ['demo', 'day', 'review', 'restarts', 'prefix'].map((story) => `page-story-${story}`);
const FILES = ['built-server', 'homes', 'run', 'acp', 'crash', 'search', ...STORIES];
const INSTALL_MS = 5 * 60_000;
const TESTS_MS = 30 * 60_000;

const folder = mkdtempSync(join(tmpdir(), 'service-code-nodes-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

function run(timeout, command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit', env, timeout });
  if (error) process.stderr.write(`${command}: ${error.message}\n`);
  return status === 0;
}

function passes(version) {
  const prefix = join(folder, version);
  // The package's script chooses the binary of the system.
  if (!run(INSTALL_MS, 'npm', ['install', '--prefix', prefix, '--no-audit', '--no-fund', `node@${version}`]))
    return false;
  const PATH = `${join(prefix, 'node_modules', 'node', 'bin')}${delimiter}${process.env.PATH}`;
  const env = { ...process.env, PATH };
  const isVersion = `console.log(process.version); process.exit(process.version.startsWith("v${version}.") ? 0 : 1)`;
  if (!run(INSTALL_MS, 'node', ['-e', isVersion], env)) return false;
  const files = FILES.map((name) => `tests/e2e/${name}.test.ts`);
  const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'e2e', '--maxWorkers=2', ...files];
  return run(TESTS_MS, 'node', args, env);
}

const versions = process.argv.length > 2 ? process.argv.slice(2) : VERSIONS;
const failed = versions.filter((version) => !passes(version));
const named = (failed.length === 0 ? versions : failed).join(' and ');
process.stdout.write(`${failed.length === 0 ? 'passed' : 'failed'} with Node ${named}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;
