/** The generated types of the clients; `tests/api/documents.test.ts` compares the golden documents with the served ones. */
import { execFile } from 'node:child_process';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { it } from 'vitest';

it.each(['typescript', 'python'])('those of %s are those of the documents', async (client) => {
  const script = resolve(import.meta.dirname, `../../../clients/${client}/generate.mjs`);
  await promisify(execFile)(process.execPath, [script, '--check']);
});
