/** Paths in documents exist: files move, and no compiler reads the documents. */
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((name) => name !== '' && existsSync(join(root, name)));
/** Documents that describe the present tree; the changelog describes earlier ones. */
const documents = files.filter((name) => name.endsWith('.md') && name !== 'CHANGELOG.md');

const FOLDERS = ['server', 'utils', 'routes', 'plugins', 'web', 'build', 'bench', 'tests', 'docs', 'bin'];
const isPath = (text: string) => FOLDERS.some((folder) => text.startsWith(`${folder}/`)) && /^[\w./[\]-]+$/.test(text);
/** Folders that a build creates, or that are in the user's home. */
const isGenerated = (path: string) => /^(web\/dist|server\/grammar|server\/instances)\b/.test(path);

/** Paths in backticks from the root of the project, without those with placeholders. */
const pathsOf = (text: string) =>
  [...text.matchAll(/`([^`\n]+)`/g)].flatMap(([, code = '']) => (isPath(code) && !isGenerated(code) ? [code] : []));

const linksOf = (text: string) =>
  [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, link = '']) => {
    const [path = ''] = link.split('#');
    return path === '' || /^[a-z]+:/i.test(path) ? [] : [path];
  });

/** Names of source files in backticks without a folder: those of the document's folder, or of any. */
const namesOf = (text: string) =>
  [...text.matchAll(/`((?:[\w-]+\/)*[\w.-]+\.(?:ts|vue|mjs))`/g)].flatMap(([, name = '']) =>
    isPath(name) ? [] : [name],
  );

describe.each(documents)('%s', (document) => {
  it('names files that exist', async () => {
    const text = await readFile(join(root, document), 'utf8');
    const missing = [
      ...pathsOf(text).filter((path) => !existsSync(join(root, path))),
      ...linksOf(text).filter((link) => !existsSync(join(root, dirname(document), link))),
      ...namesOf(text).filter((name) => !files.some((file) => file === name || file.endsWith(`/${name}`))),
    ];
    expect(missing).toEqual([]);
  });
});
