/** Loads what is mutated ahead of the tests: what runs then counts for no test, also where a test loads it first. */
import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';

const { MUTATE_PATH: path = '' } = process.env;
const folder = join(process.cwd(), path.endsWith('.ts') ? dirname(path) : path);
for (const file of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.ts')) await import(join(folder, file));
}
