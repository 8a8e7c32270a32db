/** The client's generated types; `tests/api/documents.test.ts` compares the golden documents with the served ones. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { it } from 'vitest';

const script = resolve(import.meta.dirname, '../../../clients/typescript/generate.mjs');

it('are those of the documents', async () => {
  await promisify(execFile)(process.execPath, [script, '--check']);
});
