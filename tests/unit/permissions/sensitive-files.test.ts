/** Files that hold secrets: by name, by their first bytes, and in every tool that reads or writes files. */
import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  holdsPrivateKey,
  isSensitivePath,
  PRIVATE_KEY_BYTES,
  SENSITIVE_FILES,
} from '#server/permissions/sensitive-files.ts';
import { editTool } from '#server/builtin-tools/edit.ts';
import { createGlobTool } from '#server/builtin-tools/glob.ts';
import { createGrepTool } from '#server/builtin-tools/grep.ts';
import { readTool } from '#server/builtin-tools/read.ts';
import { writeTool } from '#server/builtin-tools/write.ts';
import { createReadMediaTool } from '#server/features/media/tool.ts';
import { createWorkspace, planTool, runTool, type Workspace } from '../builtin-tools/workspace.ts';

const SENSITIVE = [
  '.env',
  '.ENV',
  '.env.local',
  '.env.production',
  '.env.example.bak',
  'id_rsa',
  'id_dsa',
  'id_ed25519',
  'ID_ECDSA',
  'id_rsa-work',
  'id_rsa_old',
  'id_rsa.bak',
  'id_dsa.old',
  'id_ed25519.PEM',
  'credentials',
  'credentials.old',
  'credentials_x.json',
  'credentials.json',
  'application_default_credentials.json',
  '.aws/credentials',
  '.aws/credentials/deep/file',
  '.gcp/credentials/x',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pypirc',
  '.git-credentials',
  '.envrc',
  '.pgpass',
  'a.p12',
  'a.pfx',
  'release.JKS',
  'debug.keystore',
  'a.kdbx',
  'a.ppk',
  '.ssh/mykey',
  '.ssh/keys/work',
  '.ssh/config.d/x',
  '.kube/config',
  '.docker/config.json',
  '.azure',
  '.azure/accessTokens.json',
  '.config/gcloud/access_tokens.db',
  '.config/gh/hosts.yml',
  '.gnupg/private-keys-v1.d/x.key',
];
const HARMLESS = [
  '.env.example',
  '.env.sample',
  '.ENV.template',
  'env',
  'x.env',
  'id_rsa.pub',
  'id_rsa-work.pub',
  'id_rsa2',
  'id_rsa.old.gz',
  'credentials.ts',
  'my-credentials',
  '.aws/config',
  'aws/credentials.d/x',
  '.npmrc.example',
  'npmrc',
  'cert.pem',
  'key.pem',
  'p12',
  'p12.ts',
  '.ssh',
  '.ssh/config',
  '.ssh/known_hosts',
  '.ssh/known_hosts.old',
  '.ssh/authorized_keys',
  '.ssh/work.pub',
  'ssh/mykey',
  'kube/config',
  '.kube/config.yaml',
  '.docker/compose.json',
  '.config/gh/config.yml',
  'gcloud/x',
  'azure/x',
];

describe('by name', () => {
  test.each(SENSITIVE)('%s', (name) => {
    for (const path of [name, `/home/u/${name}`, `/home/u/${name}/`, `//home//u/${name.replaceAll('/', '//')}`]) {
      expect([path, isSensitivePath(path)]).toEqual([path, true]);
    }
  });

  test.each(HARMLESS)('not %s', (name) => {
    expect(isSensitivePath(name)).toBe(false);
    expect(isSensitivePath(`/home/u/${name}`)).toBe(false);
  });

  test('the document lists exactly these', async () => {
    const document = await readFile(join(import.meta.dirname, '../../../docs/security.md'), 'utf8');
    const [, list = ''] = /Files hold secrets whose paths end [^]*?\n\n([^]*?)\n\n/.exec(document) ?? [];
    const quoted = (text = '') => Array.from(text.matchAll(/`([^`]+)`/g), ([, name]) => name);
    const rows = list
      .split(/^- /m)
      .slice(1)
      .map((row) => row.split(' except ').map(quoted));
    expect(rows).toEqual(
      SENSITIVE_FILES.map(({ patterns, except }) => [[...patterns], ...(except ? [[...except]] : [])]),
    );
  });
});

const KEY = '-----BEGIN RSA PRIVATE KEY-----\nneedle\n-----END RSA PRIVATE KEY-----\n';
const CERTIFICATE = '-----BEGIN CERTIFICATE-----\nneedle\n-----END CERTIFICATE-----\n';

describe('by their first bytes', () => {
  const holds = (text: string, encoding: BufferEncoding = 'utf8') => holdsPrivateKey(Buffer.from(text, encoding));

  test.each([
    KEY,
    KEY.replaceAll('RSA ', ''),
    KEY.replaceAll('RSA ', 'OPENSSH '),
    KEY.replaceAll('RSA ', 'ENCRYPTED '),
    KEY.replaceAll('RSA ', 'PGP ').replaceAll('KEY-', 'KEY BLOCK-'),
    CERTIFICATE + KEY,
    `Bag Attributes\r\n${KEY}`,
    `\uFEFF${KEY}`,
    `${'x'.repeat(PRIVATE_KEY_BYTES - 40)}\n${KEY}`,
  ])('a private key: %j', (text) => {
    expect(holds(text)).toBe(true);
  });

  test('a private key in UTF-16, with a byte order mark and without', () => {
    for (const text of [KEY, `\uFEFF${KEY}`]) {
      expect(holds(text, 'utf16le')).toBe(true);
      expect(holdsPrivateKey(Buffer.from(text, 'utf16le').swap16())).toBe(true);
    }
  });

  test.each([
    '',
    CERTIFICATE,
    '-----BEGIN PUBLIC KEY-----\n',
    `const begin = '${KEY.trim()}';`,
    ` ${KEY}`,
    `-----BEGIN CERTIFICATE-----\nPRIVATE KEY-----\n`,
    `${'x\n'.repeat(PRIVATE_KEY_BYTES / 2)}${KEY}`,
  ])('no private key: %j', (text) => {
    expect(holds(text)).toBe(false);
  });
});

describe('the tools', () => {
  let space: Workspace;
  beforeEach(async () => (space = await createWorkspace()));
  afterEach(() => space.remove());

  const noImages = () => expect.unreachable('the file is refused before');
  const media = createReadMediaTool(new Set(['image']), {
    images: { readByteBudget: noImages, look: noImages, fit: noImages, crop: noImages },
    uploadVideo: noImages,
  });
  const run = async (...[tool, args]: readonly [Parameters<typeof runTool>[0], object]) =>
    runTool(tool, space.environment, args);

  test.each(['key.pem', 'notes.txt', 'innocent'])('a private key under the name %s is refused', async (path) => {
    await space.write('other.txt', KEY);
    if (path === 'innocent') await symlink('other.txt', space.path(path));
    else await space.write(path, KEY);
    for (const [tool, args] of [
      [readTool, { path }],
      [editTool, { path, old_string: 'needle', new_string: 'x' }],
      [media, { path }],
    ] as const) {
      expect(await run(tool, args)).toMatchObject({
        isError: true,
        output: expect.stringContaining('is a sensitive file'),
      });
    }
    expect(await readFile(space.path(path), 'utf8')).toBe(KEY);
  });

  test('an image with a private key in it is refused', async () => {
    const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
    await space.write('a.png', Buffer.concat([png, Buffer.from(`\n${KEY}`)]));
    expect(await run(media, { path: 'a.png' })).toMatchObject({
      output: expect.stringContaining('is a sensitive file'),
    });
  });

  test('a certificate is read and edited, whole and in parts', async () => {
    await space.write('cert.pem', CERTIFICATE + 'x\n'.repeat(5000));
    const { output } = await run(readTool, { path: 'cert.pem', n_lines: 2 });
    expect(output).toBe('1\t-----BEGIN CERTIFICATE-----\n2\tneedle');
    const { note } = await run(readTool, { path: 'cert.pem', line_offset: -1 });
    expect(note).toContain('Total lines: 5003.');
    expect(await run(editTool, { path: 'cert.pem', old_string: 'needle', new_string: 'pin' })).toMatchObject({
      output: 'Replaced 1 occurrence in cert.pem.',
    });
  });

  test.each(['files_with_matches', 'content', 'count_matches'])('Grep omits private keys from %s', async (mode) => {
    await space.write('deep/key.pem', KEY);
    await space.write('notes.txt', KEY);
    await space.write('cert.pem', CERTIFICATE);
    await space.write('.npmrc', 'needle');
    const { output } = await run(createGrepTool(), { pattern: 'needle', output_mode: mode });
    const shown = {
      files_with_matches: 'cert.pem',
      content: 'cert.pem:2:needle',
      count_matches: '1 matches in 1 files.\ncert.pem:1',
    };
    expect(output).toBe(`${shown[mode as keyof typeof shown]}\n[Matches in 3 sensitive files are not shown.]`);
    expect(
      (await run(createGrepTool(), { pattern: 'needle', path: 'notes.txt', output_mode: mode })).output,
    ).not.toContain('needle');
  });

  test('Glob and Write apply the names', async () => {
    for (const name of ['.npmrc', '.ssh/mykey', '.ssh/config', 'a.p12', 'cert.pem']) await space.write(name, '');
    const { output } = await run(createGlobTool(), { pattern: '**/*' });
    expect(output.split('\n').toSorted()).toEqual(['.ssh/config', '[3 sensitive files are not shown.]', 'cert.pem']);
    await expect(planTool(writeTool, space.environment, { path: '.npmrc', content: '' })).rejects.toThrow('sensitive');
    await expect(
      planTool(writeTool, space.environment, { path: '.npmrc.example', content: '' }),
    ).resolves.toBeDefined();
  });
});
