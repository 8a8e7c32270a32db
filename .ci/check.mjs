// The checks that must pass before a change is merged, those that fail fastest first. The last lines list the failures
// and count the steps and the tests.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';

/** A fixed number: tests wait more than they compute, and few of the reported processors may be free. */
const WORKERS = 4;

const totals = { passed: 0, failed: 0 };
/** Failures with the start of their output, repeated at the end so that a truncated log still contains them. */
const failures = [];
const reports = mkdtempSync(join(tmpdir(), 'service-code-check-'));

function run(title, command, args, env = {}) {
  console.log(`\n== ${title}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit', env: { ...process.env, ...env } });
  return status === 0;
}

function fail(what, why = '') {
  totals.failed += 1;
  failures.push(`${what}\n${why.split('\n', 12).join('\n')}`.trim());
}

function step(title, command, args) {
  const ok = run(title, command, args);
  if (ok) totals.passed += 1;
  else fail(title);
  return ok;
}

/** Runs read-only steps concurrently; the output of each is printed as a whole. */
async function together(steps) {
  const runs = steps.map(async ([title, command, args]) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const printed = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (piece) => printed.push(piece));
    const status = await new Promise((resolve) => child.on('close', resolve).on('error', () => resolve(1)));
    const text = Buffer.concat(printed).toString();
    console.log(`\n== ${title}\n${text}`);
    if (status === 0) totals.passed += 1;
    else fail(title, text);
  });
  await Promise.all(runs);
}

/** Runs a vitest project and counts its tests individually; `workers` of its files run concurrently. */
function tests(project, workers) {
  const report = join(reports, `${project}.json`);
  const args = ['vitest', 'run', '--project', project, `--maxWorkers=${workers}`];
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
  // A server that blocks the event loop fails its test here; outside the check it is only reported.
  const env = { SERVICE_CODE_STALLS: 'fail' };
  const ok = run(`${project} tests`, 'npx', [...args, ...reporters], env);
  if (!existsSync(report)) return fail(`${project} tests`, 'ended without a report');
  const { numPassedTests, numTotalTests, testResults } = JSON.parse(readFileSync(report, 'utf8'));
  totals.passed += numPassedTests;
  let failed = 0;
  for (const file of testResults) {
    const tests = file.assertionResults.filter((test) => test.status === 'failed');
    for (const test of tests) fail(`${relative('.', file.name)}: ${test.fullName}`, test.failureMessages.join('\n'));
    // A file that could not be loaded has failed although none of its tests did.
    if (file.status === 'failed' && tests.length === 0) fail(relative('.', file.name), file.message);
    failed += tests.length + (file.status === 'failed' ? 1 : 0);
  }
  if (!ok && failed === 0) fail(`${project} tests`, 'failed outside of a test');
  if (numTotalTests === 0) fail(`${project} tests`, 'there are none');
}

/** Programs of the end-to-end tests, and Debian's packages of them. */
const PACKAGES = { '/usr/bin/chromium': 'chromium', '/usr/sbin/nginx': 'nginx-light', '/usr/bin/caddy': 'caddy' };

/** Installs the missing ones, if possible. */
function ensurePrograms() {
  const missing = Object.keys(PACKAGES).filter((program) => !existsSync(program));
  if (missing.length === 0 || process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return;
  const names = missing.map((program) => PACKAGES[program]).join(' ');
  run('apt packages', 'sh', ['-c', `apt-get update -qq && apt-get install -y -qq ${names}`], {
    DEBIAN_FRONTEND: 'noninteractive',
  });
}

/** Known vulnerabilities of what users install. Some registries do not answer this request. */
function audit() {
  const { stdout } = spawnSync('npm', ['audit', '--omit=dev', '--json'], { encoding: 'utf8', timeout: 60_000 });
  let found;
  try {
    found = JSON.parse(stdout).metadata?.vulnerabilities;
  } catch {
    found = undefined;
  }
  if (!found) return console.log('\n== npm audit: NOT CHECKED, the registry does not answer');
  console.log(`\n== npm audit: ${JSON.stringify(found)}`);
  if (found.high + found.critical === 0) totals.passed += 1;
  else fail('npm audit', JSON.stringify(found));
}

await together([
  ['types', 'npm', ['run', '--silent', 'typecheck']],
  ['lint', 'npm', ['run', '--silent', 'lint']],
  ['format', 'npx', ['prettier', '--check', '--log-level', 'warn', '.']],
  ['layers', 'npm', ['run', '--silent', 'layers']],
  ['unused exports', 'npm', ['run', '--silent', 'unused']],
  ['words', 'npm', ['run', '--silent', 'words']],
]);
audit();
tests('unit', WORKERS);
tests('api', WORKERS);
if (step('build', 'npm', ['run', '--silent', 'build'])) {
  ensurePrograms();
  // Each file starts its own server, many also a browser: more workers would only wait for each other.
  tests('e2e', 2);
}
rmSync(reports, { recursive: true, force: true });

for (const failure of failures) console.log(`\n== failed: ${failure}`);
console.log(`\n${totals.passed} passed, ${totals.failed} failed`);
process.exit(totals.failed === 0 ? 0 : 1);
