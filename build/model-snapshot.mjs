#!/usr/bin/env node
// Writes the snapshot of the model directory, which the server lists while the directory cannot be read.
//   node build/model-snapshot.mjs <source>… <target>
// Sources, see model-sources.mjs: `npm:<package>`, an http(s) address, a checkout of the directory's repository (a
// folder), a `.json` or `.json.br` file. A later source adds the providers that the earlier ones lack.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { build } from 'esbuild';
import { readSource } from './model-sources.mjs';

/** The reader's code, so that the snapshot has exactly the members that are read. */
async function loadReader() {
  const { outputFiles } = await build({
    entryPoints: [resolve(import.meta.dirname, '../server/model-catalog/trim-directory.ts')],
    absWorkingDir: resolve(import.meta.dirname, '..'),
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
  });
  const [{ text }] = outputFiles;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

const args = process.argv.slice(2);
const target = args.pop();
if (args.length === 0) throw new Error('usage: node build/model-snapshot.mjs <source>… <target>');

const { trimDirectory, SNAPSHOT_MEMBER } = await loadReader();
const providers = new Map();
const sources = [];
for (const source of args) {
  const { directory, about } = await readSource(source);
  const { entries, dropped } = trimDirectory(Buffer.from(JSON.stringify(directory)));
  for (const id of dropped) process.stderr.write(`${source}: ${id} is too large\n`);
  let added = 0;
  for (const [id, text] of entries) {
    const entry = JSON.parse(text);
    const known = providers.get(id);
    if (known) {
      // A source may lack the name that people know.
      if (known.name === undefined && entry.name !== undefined) known.name = entry.name;
      continue;
    }
    const models = entry.models.filter((model) => typeof model?.id === 'string');
    if (models.length === 0) continue;
    providers.set(id, { ...entry, models: Object.fromEntries(models.map((model) => [model.id, model])) });
    added += 1;
  }
  sources.push({ ...about, providers: added });
}

const date = new Date().toISOString().slice(0, 10);
const sorted = [...providers].sort(([a], [b]) => (a < b ? -1 : 1));
const document = { [SNAPSHOT_MEMBER]: { date, sources }, ...Object.fromEntries(sorted) };
const text = Buffer.from(JSON.stringify(document));
const compressed = brotliCompressSync(text, {
  params: {
    [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
    [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    [constants.BROTLI_PARAM_SIZE_HINT]: text.length,
  },
});
await writeFile(target, compressed);
const models = sorted.reduce((sum, [, entry]) => sum + Object.keys(entry.models).length, 0);
process.stdout.write(`${target}: ${sorted.length} providers, ${models} models, ${compressed.length} bytes\n`);
