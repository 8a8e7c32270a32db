/**
 * Homes that builds wrote, as text files of `tests/fixtures/homes/<name>/`: `home/` with placeholders for what depends
 * on the machine and without derived files, `blobs/` with the blobs of all its sessions, and `expected.json`.
 */
import { createHash } from 'node:crypto';
import { chmod, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { workspaceIdOf } from '#server/workspaces/workspace-root.ts';
import { makeEmptyHome, type BuiltHome } from './built-home.ts';
import { putFile } from './files.ts';
import { deadOwner } from './lease-holder.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export const HOMES = join(import.meta.dirname, '../fixtures/homes');
/** Paths have one length everywhere, because files of a home contain lengths of texts. */
const ROOT_CHARS = 100;
const DERIVED = ['cache/', 'logs/', 'server/instances/'];
const BLOB = /^sessions\/.+\/blobs\/([0-9a-f]{64})$/;
const JOURNAL = /^sessions\/.+\/journal\.ndjson$/;
/** The content of a lease whose owner was killed. */
const OWNER = '@owner@';
/** Longer texts of replies are stored as their hash. */
const LONG_CHARS = 100;

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

/** An empty home, a project under git, and a model server. The caller removes it after all servers have exited. */
export async function makePlace(): Promise<BuiltHome> {
  const folder = await temporaryDirectory();
  return makeEmptyHome(folder, join(folder, 'r'.repeat(ROOT_CHARS - folder.length - 1)));
}

/** Placeholders with the texts that they replace, those first that contain others. */
const namesOf = ({ home, project, root, model }: BuiltHome): [string, string][] => [
  ['@workspace@', workspaceIdOf(project)],
  ['@project@', project],
  ['@home@', home],
  ['@root@', root],
  ['@model@', model.url],
];

const withPlaceholders = (text: string, place: BuiltHome): string =>
  namesOf(place).reduce((packed, [name, value]) => packed.replaceAll(value, name), text);

const withPaths = (text: string, place: BuiltHome): string =>
  namesOf(place).reduce((unpacked, [name, value]) => unpacked.replaceAll(name, value), text);

/** A reply as a fixture has it. */
export function comparable(data: unknown, place: BuiltHome): unknown {
  const short = (_: string, value: unknown) =>
    typeof value === 'string' && value.length > LONG_CHARS ? `${value.length} characters, ${sha256(value)}` : value;
  return JSON.parse(withPlaceholders(JSON.stringify(data), place), short);
}

/** The files below a folder with their bytes, by their path in it. */
export async function filesOf(folder: string): Promise<Map<string, Buffer>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
  return new Map(await Promise.all(paths.map(async (path) => [relative(folder, path), await readFile(path)] as const)));
}

/** Stores the home, whose server has exited, as the fixture `name`, which is replaced. */
export async function storeHome(name: string, place: BuiltHome, expected: unknown): Promise<void> {
  const folder = join(HOMES, name);
  await rm(folder, { recursive: true, force: true });
  for (const [path, bytes] of await filesOf(place.home)) {
    if (DERIVED.some((derived) => path.startsWith(derived))) continue;
    const text = bytes.toString();
    if (text.includes('\0') || !Buffer.from(text).equals(bytes)) throw new Error(`${path} is not a text`);
    const [, hash] = BLOB.exec(path) ?? [];
    if (hash !== undefined && withPlaceholders(text, place) !== text) throw new Error(`${path} has a path`);
    const stored = hash === undefined ? join('home', withPlaceholders(path, place)) : join('blobs', hash);
    // The owner of a lease is a process of the machine.
    const isLease = /\/lock\.\d+$/.test(path) && text !== '';
    await putFile(join(folder, stored), isLease ? OWNER : withPlaceholders(text, place));
  }
  await putFile(join(folder, 'expected.json'), `${JSON.stringify(expected)}\n`);
}

/** Writes the fixture `name` into the home. */
export async function placeHome(name: string, place: BuiltHome): Promise<void> {
  const blobs = await filesOf(join(HOMES, name, 'blobs'));
  const put = async (path: string, text: string) => chmod(await putFile(join(place.home, path), text), 0o600);
  for (const [stored, bytes] of await filesOf(join(HOMES, name, 'home'))) {
    const path = withPaths(stored, place);
    const text = withPaths(bytes.toString().replace(OWNER, deadOwner()), place);
    await put(path, text);
    if (!JOURNAL.test(path)) continue;
    const named = [...blobs].filter(([hash]) => text.includes(hash));
    for (const [hash, blob] of named) await put(join(dirname(path), 'blobs', hash), blob.toString());
  }
}
