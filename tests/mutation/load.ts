/** Loads what is mutated ahead of the tests: what runs then counts for no test, also where a test loads it first. */
import { globSync } from 'node:fs';
import { join } from 'node:path';

const { MUTATE_PATH: path = '' } = process.env;
for (const file of globSync(path.endsWith('.ts') ? path : `${path}/**/*.ts`)) await import(join(process.cwd(), file));
