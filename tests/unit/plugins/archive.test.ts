import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { pluginTop, unpack } from '#server/plugins/archive.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';
import { rawZip, zipOf, type RawEntry } from '#support/zips.ts';

const folder = useTemporaryFolder();
const target = () => join(folder.path, 'unpacked');
const LIMITS = { maxBytes: 1000, maxEntries: 10 };

async function unpackBytes(bytes: Buffer, limits = LIMITS, signal = new AbortController().signal): Promise<void> {
  const path = join(folder.path, 'archive.zip');
  await writeFile(path, bytes);
  await unpack(path, target(), limits, signal);
}

const content = (name: string) => readFile(join(target(), name), 'utf8');
const modeOf = async (name: string) => (await stat(join(target(), name))).mode & 0o7777;

it('unpacks stored and deflated files with their permission bits', async () => {
  await unpackBytes(
    rawZip([
      { name: 'a/', mode: 0o040700, method: 0 },
      { name: 'a/run.sh', content: '#!/bin/sh', mode: 0o100755 },
      { name: 'a/plain', content: 'stored', method: 0, mode: 0o100640 },
      { name: 'b/c/deep', content: 'x'.repeat(500) },
      { name: 'empty', mode: 0 },
      { name: 'ünï', content: 'ü' },
    ]),
  );
  expect((await readdir(target(), { recursive: true })).toSorted()).toEqual(
    ['a', 'a/plain', 'a/run.sh', 'b', 'b/c', 'b/c/deep', 'empty', 'ünï'].toSorted(),
  );
  expect(await content('a/plain')).toBe('stored');
  expect(await content('b/c/deep')).toBe('x'.repeat(500));
  expect(await content('ünï')).toBe('ü');
  expect(await modeOf('a/run.sh')).toBe(0o755);
  expect(await modeOf('a/plain')).toBe(0o640);
  expect(await modeOf('a')).toBe(0o700);
  expect(await modeOf('empty')).toBe(0o644);
});

it('drops the set-user-id, set-group-id and sticky bits, and keeps the owner able to read and remove', async () => {
  await unpackBytes(
    rawZip([
      { name: 'suid', mode: 0o107755 },
      { name: 'closed', mode: 0o100000 + 0o070 },
      { name: 'dir/', mode: 0o041111, method: 0 },
    ]),
  );
  expect(await modeOf('suid')).toBe(0o755);
  expect(await modeOf('closed')).toBe(0o670);
  expect(await modeOf('dir')).toBe(0o711);
});

it('writes a symbolic link as a plain file with its target', async () => {
  await unpackBytes(rawZip([{ name: 'link', content: '/etc/passwd', mode: 0o120777 }]));
  expect(await content('link')).toBe('/etc/passwd');
  expect(await modeOf('link')).toBe(0o644);
  expect((await readdir(target(), { withFileTypes: true }))[0]?.isFile()).toBe(true);
});

it('treats a backslash as a separator', async () => {
  await unpackBytes(rawZip([{ name: 'a\\b\\c', content: 'x' }]));
  expect(await content('a/b/c')).toBe('x');
});

describe('refuses', () => {
  const refusals: [what: string, entries: (RawEntry | string)[], reason: RegExp][] = [
    ['..', ['../x'], /invalid relative path/],
    ['.. in the middle', ['a/../../x'], /invalid relative path/],
    ['.. with backslashes', ['a\\..\\..\\x'], /invalid relative path/],
    ['an absolute name', ['/etc/x'], /absolute path/],
    ['an absolute name with backslashes', ['\\\\host\\x'], /absolute path/],
    ['a drive letter', ['C:\\x'], /absolute path/],
    ['a relative drive', ['c:x'], /absolute path/],
    ['the name .', ['./a'], /without a name/],
    ['. in the middle', ['a/./b'], /without a name/],
    ['an empty segment', ['a//b'], /without a name/],
    ['an empty name', [''], /without a name/],
    ['only a slash after a folder', ['a//'], /without a name/],
    ['NUL', ['a\0b'], /control character/],
    ['a line feed', ['a\nb'], /control character/],
    ['DEL', ['a\u007F'], /control character/],
    ['a dot at the end', ['a.'], /dot or a space/],
    ['a space at the end of a parent', ['a /b'], /dot or a space/],
    ['three dots', ['.../b'], /dot or a space/],
    ['a segment of 256 bytes', ['ä'.repeat(128)], /too long/],
    ['101 segments', [Array.from({ length: 101 }, () => 'a').join('/')], /too many segments/],
    ['two equal names', ['a', 'a'], /one name/],
    ['two equal folders', ['a/', 'a/'], /one name/],
    ['a name in two cases', ['readme', 'README'], /case or in Unicode/],
    ['a parent in two cases', ['a/x', 'A/y'], /case or in Unicode/],
    ['a listed folder in another case', ['a/x', 'A/'], /case or in Unicode/],
    ['two Unicode forms', ['\u00E9', 'e\u0301'], /case or in Unicode/],
    ['two Unicode forms of a parent', ['\u00E9/a', 'e\u0301/b'], /case or in Unicode/],
    ['ß and ss', ['stra\u00DFe', 'STRASSE'], /case or in Unicode/],
    ['the Kelvin sign and k', ['\u212A', 'k'], /case or in Unicode/],
    ['two orders of combining marks', ['\u03B1\u0345\u0301', '\u03B1\u0301\u0345'], /case or in Unicode/],
    ['two sigmas', ['\u03C3', '\u03C2'], /case or in Unicode/],
    ['a file and a folder of one name', ['a', 'a/b'], /name of a folder/],
    ['a folder and a file of one name', ['a/b', 'a'], /name of a folder/],
    ['a listed folder and a file of one name', ['a/', 'a'], /name of a folder/],
    ['a file that becomes a listed folder', ['a', 'a/'], /name of a folder/],
    ['an encrypted entry', [{ name: 'a', flags: 1 }], /encrypted/],
    ['an unknown compression method', [{ name: 'a', method: 12 }], /compression method/],
    ['a wrong checksum', [{ name: 'a', content: 'x', crc: 7 }], /checksum/],
    ['more bytes than declared', [{ name: 'a', content: 'x'.repeat(600), declaredSize: 10 }], /too many bytes/],
    ['fewer bytes than declared', [{ name: 'a', content: 'x', declaredSize: 10 }], /not enough bytes/],
    ['a stored entry of another size', [{ name: 'a', content: 'x', declaredSize: 10, method: 0 }], /size mismatch/],
    ['too many bytes in one file', [{ name: 'a', content: 'x'.repeat(1001) }], /more than 1000 bytes/],
    [
      'too many bytes in all',
      [
        { name: 'a', content: 'x'.repeat(501) },
        { name: 'b', content: 'x'.repeat(500) },
      ],
      /more than 1000 bytes/,
    ],
    ['too many entries', Array.from({ length: 11 }, (_, at) => `f${at}`), /more than 10 entries/],
    ['too many folders that are not listed', ['a/b/c/d/e/f/g/h/i/j/k/file'], /more than 10 folders/],
  ];
  it.each(refusals)('%s', async (_what, entries, reason) => {
    const zip = rawZip(entries.map((entry) => (typeof entry === 'string' ? { name: entry } : entry)));
    const failure = expect.objectContaining({
      name: 'validation.failed',
      message: expect.stringMatching(new RegExp(`^Failed to unpack zip: .*${reason.source}`)),
    });
    await expect(unpackBytes(zip)).rejects.toEqual(failure);
    expect(await readdir(folder.path)).toEqual(expect.not.arrayContaining(['x', 'etc']));
  });

  it('a file that is no archive, an empty one, and truncated ones', async () => {
    const zip = await zipOf({ 'a/b': 'some text', c: 'more' });
    const cut = Array.from({ length: 12 }, (_, part) => zip.subarray(0, Math.floor((zip.length * part) / 12)));
    for (const bytes of [Buffer.from('no archive at all'), Buffer.alloc(0), Buffer.alloc(100_000), ...cut]) {
      await expect(unpackBytes(bytes)).rejects.toThrow(/^Failed to unpack zip: /);
    }
  });

  it('damaged compressed data', async () => {
    const zip = rawZip([{ name: 'a', content: 'some text that is long enough' }]);
    zip.fill(0xff, 31, 31 + deflateRawSync('some text that is long enough').length - 2);
    await expect(unpackBytes(zip)).rejects.toThrow(/^Failed to unpack zip: /);
  });
});

it('quotes at most 300 characters of the reason', async () => {
  const failure = await unpackBytes(rawZip([{ name: `../${'x'.repeat(60_000)}` }])).catch((error: unknown) => error);
  expect(String(failure).length).toBeLessThan(400);
});

it('accepts exactly as many entries and bytes as allowed', async () => {
  const entries = Array.from({ length: 9 }, (_, at) => ({ name: `top/f${at}` }));
  await unpackBytes(rawZip([...entries, { name: 'top/last', content: 'x'.repeat(1000) }]));
  expect(await readdir(join(target(), 'top'))).toHaveLength(10);
});

it('accepts a folder that is listed after its files', async () => {
  await unpackBytes(rawZip([{ name: 'a/b' }, { name: 'a/', method: 0, mode: 0o040755 }]));
  expect(await readdir(target(), { recursive: true })).toEqual(['a', 'a/b']);
});

it('stops with the reason of the signal', async () => {
  const zip = await zipOf({ a: 'x' });
  await expect(unpackBytes(zip, LIMITS, AbortSignal.abort(new Error('stopping')))).rejects.toThrow('stopping');
});

it('reports a target that cannot be written as a failure of the disk', async () => {
  await writeFile(target(), '');
  await expect(unpackBytes(await zipOf({ a: 'x' }))).rejects.toMatchObject({ name: 'NotStored' });
});

describe('the top of a plugin', () => {
  const topOf = async (files: Record<string, string>) => {
    await unpackBytes(await zipOf(files), { maxBytes: 1000, maxEntries: 20 });
    return (await pluginTop(target())).slice(target().length);
  };
  it.each([
    ['is the archive itself', { 'service.plugin.json': '{}', 'other/service.plugin.json': '{}' }, ''],
    ['is the archive with the hidden manifest', { '.service-plugin/plugin.json': '{}', 'a/b': '' }, ''],
    ['is the only folder, next to files', { 'one/service.plugin.json': '{}', 'README.md': '' }, '/one'],
    ['is the only folder with the hidden manifest', { 'one/.service-plugin/plugin.json': '{}' }, '/one'],
    ['is the archive if there are two folders', { 'one/service.plugin.json': '{}', 'two/x': '' }, ''],
    ['is the archive if the only folder has no manifest', { 'one/x': '' }, ''],
    ['is the archive if the manifest is two folders down', { 'one/two/service.plugin.json': '{}' }, ''],
    ['is the archive if it has a single file', { x: '' }, ''],
  ])('%s', async (_what, files, top) => expect(await topOf(files as Record<string, string>)).toBe(top));
});
