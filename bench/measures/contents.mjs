// Searching the contents of 100,000 files against ripgrep itself, and git's status of them against git itself.
import { execFileSync, spawn } from 'node:child_process';
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { watchLoop } from '../loop-blocks.mjs';
import { temporaryFolder } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const DIRECTORIES = 1000;
const FILES_EACH = 100;
const CHANGED = 100;
/** The arguments that the server uses. */
const RG = ['--no-config', '--no-messages', '--json', '--hidden', '--glob=!.*', '--case-sensitive', '--fixed-strings'];
const STATUS = ['status', '--porcelain=v1', '-z', '--branch', '--untracked-files=normal'];

function makeTree(root) {
  for (let directory = 0; directory < DIRECTORIES; directory += 1) {
    const path = join(root, `part-${directory % 40}`, `module-${directory}`);
    mkdirSync(path, { recursive: true });
    for (let file = 0; file < FILES_EACH; file += 1) {
      const rare = file === 7 && directory % 20 === 0 ? 'rareword' : 'ordinary';
      const lines = Array.from({ length: 8 }, (_, line) => `  const value${line} = compute(${file}, ${line});`);
      writeFileSync(join(path, `file-${file}.ts`), `// ${rare}\nexport function work() {\n${lines.join('\n')}\n}\n`);
    }
  }
}

async function timed(work) {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

/** Runs a program and reads what it prints. */
const program = (file, args, cwd) => () =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, GIT_OPTIONAL_LOCKS: '0' };
    const child = spawn(file, args, { cwd, env, stdio: ['ignore', 'pipe', 'ignore'] });
    child.stdout.resume();
    child.once('error', reject);
    child.once('close', resolve);
  });

export async function measureContents({ builds, model, quick, report }) {
  const folder = await temporaryFolder();
  const targets = await Promise.all(builds.map((directory) => openTarget({ directory, model }, { inspect: true })));
  const rounds = quick ? 3 : 9;
  try {
    const root = join(folder, 'tree');
    mkdirSync(root);
    makeTree(root);
    const git = (...args) =>
      execFileSync('git', ['-c', 'user.name=b', '-c', 'user.email=b@example.com', ...args], { cwd: root });
    git('init', '--quiet');
    git('config', 'gc.auto', '0');
    git('add', '--all');
    git('commit', '--quiet', '--message=all');
    const actions = await Promise.all(
      targets.map(async ({ client }) => {
        const { id } = await client.api('POST', '/sessions', { metadata: { cwd: root } });
        return (action, body) => client.api('POST', `/sessions/${id}/fs:${action}`, body);
      }),
    );

    const [block] = await Promise.all(targets.map(({ server }) => watchLoop(server.inspectorUrl)));
    const tellBlock = async (name) => report.line({ name, unit: 'ms', now: [await block()], aim: { most: 50 } });

    async function compare(name, of, own, action, body) {
      const works = [own, ...actions.map((act) => () => act(action, body))];
      for (const work of works) await work();
      const [values, now, before] = await inTurn(rounds, works, timed);
      report.line({ name, unit: 'ms', now, before, against: { name: of, values }, aim: { most: 1.3, of } });
    }
    const rg = (pattern, count) =>
      program(rgPath, [...RG, '--context=2', `--max-count=${count}`, `--regexp=${pattern}`, './'], root);
    await compare('grep: a word in 50 of 100,000 files', 'rg', rg('rareword', 51), 'grep', { pattern: 'rareword' });
    await compare('grep: a word that is nowhere', 'rg', rg('nowhereatall', 51), 'grep', { pattern: 'nowhereatall' });
    const all = { pattern: 'compute(77,', max_files: 10_000, max_total_matches: 100_000 };
    await compare('grep: 8,000 matches with their lines', 'rg', rg(all.pattern, 51), 'grep', all);

    await tellBlock('longest block of the loop meanwhile');
    const long = join(folder, 'long');
    mkdirSync(long);
    const text = `needle ${'word '.repeat(12_000)}\n`.repeat(40);
    for (let file = 0; file < 20; file += 1) writeFileSync(join(long, `${file}.txt`), text);
    const { id } = await targets[0].client.api('POST', '/sessions', { metadata: { cwd: long } });
    const most = { pattern: 'needle', max_files: 10_000, max_matches_per_file: 10_000 };
    const whole = await timed(() => targets[0].client.api('POST', `/sessions/${id}/fs:grep`, most));
    report.line({ name: 'grep: a reply of 32 MiB', unit: 'ms', now: [whole] });
    await tellBlock('longest block of the loop meanwhile');

    await compare('git_status of 100,000 files, clean', 'git', program('git', STATUS, root), 'git_status', {});
    for (let at = 0; at < CHANGED; at += 1) {
      appendFileSync(join(root, `part-${at % 40}`, `module-${at}`, 'file-0.ts'), '// changed\n');
    }
    await compare(`git_status, ${CHANGED} of them changed`, 'git', program('git', STATUS, root), 'git_status', {});
    await tellBlock('longest block of the loop meanwhile');
  } finally {
    await Promise.all(targets.map((target) => target.close()));
    rmSync(folder, { recursive: true, force: true });
  }
}
