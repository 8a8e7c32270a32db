// Makes the npm package of the built server in `.release/`, with its list of components (SBOM). Build first. The package has no
// native files: its dependencies bring those of the system on which it is installed.
import { execFileSync } from 'node:child_process';
import { cp, mkdir, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '..');
const RELEASE = join(ROOT, '.release');
const FOLDER = join(RELEASE, 'package');
const MOST_BYTES = 12_000_000;

/** Programs of the repository that the package does not need. */
const OWN_PROGRAMS = ['service-code.cjs', 'debug-signal.cjs', 'thread-pool.cjs'];
const SPECIFIER = /(?:\bfrom|\bimport|\bimport\(|\brequire\(|\.resolve\()\s*["']([^"'\n]+)["']/g;

const npm = (args, cwd) => execFileSync('npm', args, { cwd, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });

const readJson = async (path) => JSON.parse(await readFile(path, 'utf8'));

/** `@scope/name` or `name` of an import; undefined for files and for modules of Node. */
function packageOf(specifier) {
  if (/^[./#]/.test(specifier) || specifier.includes(':')) return undefined;
  const [first = '', second = ''] = specifier.split('/');
  const name = first.startsWith('@') ? `${first}/${second}` : first;
  return /^(@[\w.-]+\/)?[\w.-]+$/.test(name) && !builtinModules.includes(name) ? name : undefined;
}

/** Names of the packages that the built files import. */
async function importedPackages(server) {
  const names = new Set();
  for (const path of await readdir(server, { recursive: true })) {
    if (path.split('/')[0] === 'node_modules' || !/\.m?js$/.test(path)) continue;
    const text = await readFile(join(server, path), 'utf8');
    for (const [, specifier] of text.matchAll(SPECIFIER)) {
      const name = packageOf(specifier);
      if (name !== undefined) names.add(name);
    }
  }
  return names;
}

/** The dependencies of the root that the built files import, at the versions with which they were tested. */
async function dependenciesOf({ dependencies }, server) {
  const imported = await importedPackages(server);
  return Object.fromEntries(Object.entries(dependencies).filter(([name]) => imported.has(name)));
}

const isPacked = (source) => {
  const path = relative(ROOT, source);
  return path !== join('.output', 'server', 'node_modules') && !/\.(map|node)$/.test(path);
};

await rm(RELEASE, { recursive: true, force: true });
await mkdir(FOLDER, { recursive: true });
const root = await readJson(join(ROOT, 'package.json'));
await cp(join(ROOT, '.output'), join(FOLDER, '.output'), { recursive: true, filter: isPacked });
await rm(join(FOLDER, '.output', 'server', 'package.json'), { force: true });
for (const name of OWN_PROGRAMS) await cp(join(ROOT, 'bin', name), join(FOLDER, 'bin', name));
for (const name of ['README.md', 'CHANGELOG.md', 'LICENSE']) await cp(join(ROOT, name), join(FOLDER, name));
const { name, version, description, license, engines, bin, type } = root;
const dependencies = await dependenciesOf(root, join(ROOT, '.output', 'server'));
const manifest = {
  name,
  version,
  description,
  license,
  type,
  engines,
  bin,
  files: ['.output', 'bin', 'CHANGELOG.md'],
  dependencies,
};
await writeFile(join(FOLDER, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);

const [packed] = JSON.parse(npm(['pack', '--json', '--pack-destination', RELEASE], FOLDER));
const { size } = await stat(join(RELEASE, packed.filename));
if (size > MOST_BYTES) throw new Error(`${packed.filename} has ${size} bytes, more than ${MOST_BYTES}`);
// With the packages for development, which npm marks: the page is bundled from some of them.
await writeFile(join(RELEASE, 'sbom.cdx.json'), npm(['sbom', '--sbom-format', 'cyclonedx'], ROOT));
process.stdout.write(`.release/${packed.filename}: ${(size / 1e6).toFixed(1)} MB, ${packed.entryCount} files\n`);
