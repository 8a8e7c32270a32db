/** The settings that the documents give to users of an editor: the command and arguments are read from their text. */
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, join, resolve } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import * as z from 'zod';
import { startAgent } from '#support/acp-process.ts';
import { makeBuiltHome } from '#support/built-home.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const settings = z.strictObject({
  agent_servers: z.strictObject({
    'Service Code': z.strictObject({ command: z.string(), args: z.array(z.string()) }),
  }),
});
const manifest = z.object({ bin: z.record(z.string(), z.string()) });

/** The agent of the only settings block in a document. */
async function agentOf(file: string) {
  const text = await readFile(join(ROOT, file), 'utf8');
  const blocks = Array.from(text.matchAll(/^```json\n([^]*?)^```/gm), ([, block = '']) => block);
  const [block, ...others] = blocks.filter((one) => one.includes('agent_servers'));
  expect(others).toEqual([]);
  return settings.parse(JSON.parse(block ?? 'null')).agent_servers['Service Code'];
}

/** A folder of commands, with those of the package as `npm install -g` links them. */
async function installedCommands(folder: string): Promise<string> {
  await mkdir(folder);
  const { bin } = manifest.parse(JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')));
  for (const [name, file] of Object.entries(bin)) await symlink(join(ROOT, file), join(folder, name));
  return folder;
}

it.each(['README.md', 'docs/editors.md'])('an editor with the settings of %s has a prompt answered', async (file) => {
  const { command, args } = await agentOf(file);
  const base = await makeBuiltHome();
  onTestFinished(base.remove);
  const { SERVICE_CODE_URL: _url, SERVICE_CODE_TOKEN: _token, PATH = '', ...rest } = process.env;
  const path = [await installedCommands(join(base.root, 'bin')), PATH].join(delimiter);
  const env = { ...rest, PATH: path, SERVICE_CODE_HOME: base.home };
  const editor = await startAgent({ command, args, env, cwd: base.project });
  onTestFinished(() => void editor.process.kill('SIGKILL'));
  const id = await editor.open(base.project);
  base.model.enqueue({ text: 'Hello, editor.' });
  expect(await editor.prompt(id, 'Hi')).toBe('end_turn');
  expect(editor.text('agent_message_chunk', id)).toBe('Hello, editor.');
  expect(await editor.close()).toBe(0);
  expect(editor.errors()).toBe('');
});
