#!/usr/bin/env node
// Mutation tests: npm run mutate -- [folder or file …]. Prints what survived; `coverage/mutation/` has the whole reports.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
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

const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(FOLDERS);
let status = 0;
for (const path of wanted) {
  const env = {
    ...process.env,
    MUTATE_PATH: path,
    MUTATE_TESTS: FOLDERS[folderOf(path)].join(' '),
    // A mutant whose event never arrives fails soon instead of after a minute.
    SERVICE_CODE_TEST_PATIENCE_MS: '5000',
  };
  status = spawnSync(process.execPath, args, { cwd: root, env, stdio: 'inherit' }).status || status;
}
process.exit(status ?? 1);
