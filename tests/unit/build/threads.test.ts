import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { bundleThread, stringLiteral } from '../../../build/threads.ts';

async function program(files: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'service-code-program-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return join(folder, 'x-program.ts');
}

it('bundles a program with its imports into one script, and names their files', async () => {
  const path = await program({
    'x-program.ts': `import { greeting } from './other.ts';\nconsole.log(greeting);`,
    'other.ts': `export const greeting: string = 'hello';`,
  });
  const { text, files } = await bundleThread(path);
  expect(text).toContain('"hello"');
  expect(text).not.toMatch(/\bimport\b|: string/);
  expect(files.map((file) => file.replace(/.*\//, '')).toSorted()).toEqual(['other.ts', 'x-program.ts']);
});

it('refuses a program that uses import.meta, also in an import, with its file', async () => {
  const path = await program({
    'x-program.ts': `import './other.ts';`,
    'other.ts': `console.log(import.meta.url);`,
  });
  await expect(bundleThread(path)).rejects.toThrow(/other\.ts uses import\.meta/);
});

it('is a literal in which nothing is found that Nitro replaces', () => {
  const text = 'process.env.NODE_ENV, import.meta.dev, typeof window, \\typeof, "\n`';
  const literal = stringLiteral(text);
  expect(literal).not.toMatch(/process|import|typeof/);
  expect(JSON.parse(literal)).toBe(text);
});
