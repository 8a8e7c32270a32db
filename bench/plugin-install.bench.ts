/** Install of a plugin of 1,000 files from a directory, which replaces the copy before. */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, bench, describe } from 'vitest';
import type { Plugins } from '#server/plugins/plugins.ts';
import { openPlugins } from '#support/open-plugins.ts';
import { writeFiles } from '#support/plugins.ts';
import { createFigure, report } from './figures.ts';

const FILES = 1000;

let folder: string;
let source: string;
let plugins: Plugins;
const installs = createFigure();

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'bench-'));
  const files = Array.from({ length: FILES - 1 }, (_, at) => [`folder-${at % 20}/file-${at}.md`, 'text '.repeat(500)]);
  source = await writeFiles(join(folder, 'source'), {
    'service.plugin.json': { name: 'large', skills: './folder-1', commands: './folder-2' },
    ...Object.fromEntries(files),
  });
  const home = join(folder, 'home');
  await mkdir(home);
  ({ plugins } = openPlugins(home, 'bench'));
});
afterAll(async () => {
  await plugins.close();
  await rm(folder, { recursive: true });
  report(`install of ${FILES} files`, 1000 / installs.perSecond(), 'ms');
});

describe('plugins', () => {
  bench('an install', () => installs.measure(1, async () => void (await plugins.install(source))), {
    time: 3000,
    warmupTime: 0,
  });
});
