/** Loads the mutated modules before the tests, so that module-level code is attributed to no test. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const { MUTATE_PATH: path = '' } = process.env;
const folder = join(process.cwd(), path.endsWith('.ts') ? dirname(path) : path);
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.ts')) await import(join(folder, file));
}
