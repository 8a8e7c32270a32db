#!/usr/bin/env node
// Mutation tests: npm run mutate -- [--sample <percent>] [--concurrency <processes>] [--tests <pattern>] [folder or
// file …]. Prints the surviving mutants; the full reports are in `coverage/mutation/`. `--tests unit/journal/**` runs
// only those tests instead of all of the folder: enough to see what a new test detects, but no score.
import { spawnSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { FOLDERS } from './folders.mjs';

const root = join(import.meta.dirname, '../..');
const stryker = join(root, 'node_modules/@stryker-mutator/core/bin/stryker.js');
const args = [stryker, 'run', join(import.meta.dirname, 'stryker.config.mjs')];

/** The listed folder that is or contains the path. */
function folderOf(path) {
  const folder = Object.keys(FOLDERS).find((name) => path === name || path.startsWith(`${name}/`));
  if (folder !== undefined) return folder;
  process.stderr.write(`${path}: in no folder of tests/mutation/folders.mjs\n`);
  process.exit(1);
}

/** Number of lines per part of a sample. */
const PART_LINES = 8;

/** The path in Stryker's format; for a sample, random parts of its files, `<percent>` of all. */
function mutatedParts(path, percent) {
  if (percent === undefined) return [path.endsWith('.ts') ? path : `${path}/**/*.ts`];
  const names = path.endsWith('.ts') ? [''] : readdirSync(join(root, path), { recursive: true });
  const files = names.map((name) => join(path, name)).filter((file) => file.endsWith('.ts'));
  return files.flatMap((file) => {
    const lines = readFileSync(join(root, file), 'utf8').split('\n').length;
    const starts = Array.from({ length: Math.ceil(lines / PART_LINES) }, (_, index) => index * PART_LINES + 1);
    const chosen = starts.filter(() => Math.random() * 100 < Number(percent));
    return chosen.map((start) => `${file}:${start}-${start + PART_LINES - 1}`);
  });
}

const { values, positionals } = parseArgs({
  options: { sample: { type: 'string' }, concurrency: { type: 'string' }, tests: { type: 'string' } },
  allowPositionals: true,
});
if (values.concurrency !== undefined) args.push('--concurrency', values.concurrency);
const wanted = positionals.length > 0 ? positionals : Object.keys(FOLDERS);
let status = 0;
for (const path of wanted) {
  const env = {
    ...process.env,
    MUTATE_PATH: path,
    MUTATE_PARTS: mutatedParts(path, values.sample).join(' '),
    MUTATE_TESTS: values.tests ?? FOLDERS[folderOf(path)].join(' '),
    // Fails mutants whose event never arrives after 5 s instead of a minute.
    SERVICE_CODE_TEST_PATIENCE_MS: '5000',
  };
  status = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status || status;
}
process.exit(status ?? 1);
