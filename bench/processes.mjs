// The measured processes, and the values that are read from outside.
import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const START_TIMEOUT_MS = 20_000;
const STOP_TIMEOUT_MS = 8000;
/** The unit of the times in `/proc/<pid>/stat`. */
const TICK_MS = 10;

const children = new Set();
const folders = new Set();
process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** Creates a folder that is removed at the end of the run. */
export async function temporaryFolder(parent = tmpdir()) {
  const folder = await mkdtemp(join(parent, 'service-code-bench-'));
  folders.add(folder);
  return folder;
}

/**
 * CPU time of a process so far, ms. Summed over its threads if the kernel reports nanoseconds (a node server keeps its
 * threads); otherwise in ticks.
 */
export function cpuMs(pid) {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const spent = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]);
    return spent.reduce((sum, nanoseconds) => sum + Number(nanoseconds), 0) / 1e6;
  } catch {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
    return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
  }
}

export function residentMiB(pid) {
  return Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))[1]) / 1024;
}

/** Starts a node program; `matched` resolves when its output matches, with the first group. */
function start(args, pattern, options = {}) {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options });
  children.add(child);
  let output = '';
  const exited = new Promise((resolve) => child.once('exit', resolve)).finally(() => children.delete(child));
  const matched = new Promise((resolve, reject) => {
    const fail = (what) => reject(new Error(`${args.join(' ')}: ${what}\n${output}`));
    const timer = setTimeout(() => fail('not started in time'), START_TIMEOUT_MS);
    const look = (text) => {
      output += text;
      const found = pattern.exec(output)?.[1];
      if (found === undefined) return;
      clearTimeout(timer);
      resolve(found);
    };
    child.stdout.setEncoding('utf8').on('data', look);
    child.stderr.setEncoding('utf8').on('data', look);
    void exited.then((code) => {
      clearTimeout(timer);
      fail(`ended with ${code}`);
    });
  });
  const stop = async (signal = 'SIGKILL') => {
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await exited;
    clearTimeout(timer);
  };
  return { pid: child.pid, matched, output: () => output, exited, stop };
}

const program = (name) => join(import.meta.dirname, 'programs', `${name}.mjs`);

/** Starts one of `programs/` that prints its port: `{ url, pid, stop() }`. */
export async function startProgram(name) {
  const { pid, matched, stop } = start([program(name)], /^(\d+)\n/);
  return { url: `http://127.0.0.1:${await matched}`, pid, stop };
}

/** Runs one of `programs/` to its end and parses its output, a line of JSON. */
export async function runProgram(name, args) {
  const { matched, exited } = start([program(name), ...args], /^(.*)\n/);
  const line = await matched;
  await exited;
  return JSON.parse(line);
}

/** Writes the configuration of a home whose only model is the model server. */
export function writeConfig(home, modelUrl) {
  const config = `default_model = "bench/bench-1"

[providers.bench]
type = "native"
base_url = "${modelUrl}/v1"
api_key = "bench-key"

[models."bench/bench-1"]
provider = "bench"
model = "bench-1"
max_context_size = 1000000
capabilities = ["tool_use"]
`;
  writeFileSync(join(home, 'config.toml'), config);
}

/** Creates a home whose only model is the model server, and a git project. */
export async function makeHome(modelUrl) {
  const folder = await temporaryFolder();
  const home = join(folder, 'home');
  const project = join(folder, 'project');
  await mkdir(home);
  await mkdir(project);
  await writeFile(join(project, 'a.txt'), 'one line of the file that is read\n'.repeat(40));
  execFileSync('git', ['init', '--quiet', project]);
  writeConfig(home, modelUrl);
  return { home, project, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/**
 * Starts the output built in `directory` on a given home. `inspectorUrl` is defined only with `inspect`: an inspector
 * reads the heap without an endpoint of the server.
 */
export async function startBuilt(directory, { home, inspect = false }) {
  const command = join(directory, 'bin', 'service-code.cjs');
  const { pid, matched, stop, output } = start(
    [
      ...(inspect ? ['--inspect=127.0.0.1:0'] : []),
      // Earlier builds have no such command.
      existsSync(command) ? command : join(directory, '.output', 'server', 'index.mjs'),
      '--port',
      '0',
      '--no-open',
    ],
    /http:\/\/[^\s/]+:(\d+)\//,
    { env: { ...process.env, SERVICE_CODE_HOME: home } },
  );
  const port = await matched;
  const token = await readFile(join(home, 'server.token'), 'utf8');
  const inspectorUrl = /Debugger listening on (ws:\S+)/.exec(output())?.[1];
  return { url: `http://127.0.0.1:${port}`, token, pid, inspectorUrl, stop };
}
