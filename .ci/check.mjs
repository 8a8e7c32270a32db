// Everything that must hold before a change lands, in the order of what fails fastest. The last line counts the steps
// and the tests.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Tests wait more than they compute; however many processors a machine shows, few may be free. */
const WORKERS = 4;

const totals = { passed: 0, failed: 0 };
const reports = mkdtempSync(join(tmpdir(), 'service-code-check-'));

function run(title, command, args, env = {}) {
  console.log(`\n== ${title}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  return status === 0;
}

function step(title, command, args) {
  const ok = run(title, command, args);
  totals[ok ? 'passed' : 'failed'] += 1;
  return ok;
}

/** Steps that only read, side by side; what each prints stays together. */
async function together(steps) {
  const runs = steps.map(async ([title, command, args]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => printed.push(piece));
    const status = await new Promise((resolve) => child.on('close', resolve).on('error', () => resolve(1)));
    totals[status === 0 ? 'passed' : 'failed'] += 1;
    console.log(`\n== ${title}\n${Buffer.concat(printed).toString()}`);
  });
  await Promise.all(runs);
}

/** A vitest project; its tests are counted one by one. `workers` is how many of its files run at once. */
function tests(project, workers) {
  const report = join(reports, `${project}.json`);
  const args = ['vitest', 'run', '--project', project, `--maxWorkers=${workers}`];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // A server that blocks the event loop fails its test here; elsewhere it is only told.
  const env = { SERVICE_CODE_STALLS: 'fail' };
  const ok = run(`${project} tests`, 'npx', [...args, ...reporters], env);
  if (!existsSync(report)) {
    totals.failed += 1;
    return;
  }
  const { numPassedTests, numFailedTests, numTotalTests } = JSON.parse(readFileSync(report, 'utf8'));
  totals.passed += numPassedTests;
  totals.failed += numFailedTests;
  // A file that could not be loaded, or a project without tests, fails although no test did.
  if ((!ok && numFailedTests === 0) || numTotalTests === 0) totals.failed += 1;
}

/** The browser tests need Debian's chromium; it is installed where that is possible. */
function ensureBrowser() {
  if (existsSync('/usr/bin/chromium')) return;
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  run('apt packages', 'sh', ['-c', 'apt-get update -qq && apt-get install -y -qq chromium'], {
    DEBIAN_FRONTEND: 'noninteractive',
  });
}

await together([
  ['types', 'npm', ['run', '--silent', 'typecheck']],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['format', 'npx', ['prettier', '--check', '--log-level', 'warn', '.']],
  ['layers', 'npm', ['run', '--silent', 'layers']],
  ['unused exports', 'npm', ['run', '--silent', 'unused']],
]);
tests('unit', WORKERS);
tests('api', WORKERS);
if (step('build', 'npm', ['run', '--silent', 'build'])) {
  ensureBrowser();
  // Each file has a server of its own, and many a browser: more would only wait for each other.
  tests('e2e', 2);
}
rmSync(reports, { recursive: true, force: true });

console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);
