/** Endpoints that declare `stateless` must run without a home, a socket or a native module. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { createStandaloneDirectory } from '#server/model-catalog/standalone-directory.ts';
import { directoryDuringTest, directoryEntry, documentAnswer } from '#support/model-directory.ts';

const root = resolve(import.meta.dirname, '../../..');
const { imports } = z
  .object({ imports: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')));
/** The aliases of the package, such as `#server/*`, with the folders that they replace. */
const aliases = Object.entries(imports).map(
  ([alias, path]) => [alias.slice(0, -1), join(root, path.slice(0, -1))] as const,
);
const needsTheMachine =
  /^server\/(app|home|auth|journal|sessions|storage|tools|agent|workspaces|config|runtime|processes|threads|files|net(?!\/read-bounded\.ts))\b/;
const needsNode = /^(libsql|@vscode\/ripgrep|crossws|undici|node:(net|child_process|fs|fs\/promises|os))$/;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

/** Modules that a file imports at run time, without type imports. */
function imported(file: string): string[] {
  // The content of another file, which the build inserts.
  if (file.includes('?')) return [];
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(/^\s*(?:import|export)\s+(?!type\b)[^;]*?from\s+'([^']+)'/gm);
  return [...statements, ...source.matchAll(/\bimport\('([^']+)'\)/g)].map((match) => match[1] ?? '');
}

/** Path of a file of ours, or the name of a package. */
function resolved(file: string, name: string): string {
  if (name.startsWith('.')) return resolve(dirname(file), name);
  const [alias, path] = aliases.find(([prefix]) => name.startsWith(prefix)) ?? [];
  return alias === undefined || path === undefined ? name : join(path, name.slice(alias.length));
}

function reached(file: string, seen = new Set<string>()): Set<string> {
  for (const name of imported(file)) {
    const target = resolved(file, name);
    if (seen.has(target)) continue;
    seen.add(target);
    if (target.startsWith('/')) reached(target, seen);
  }
  return seen;
}

const stateless = files(join(root, 'routes')).filter((file) => /\bstateless: true\b/.test(readFileSync(file, 'utf8')));

it('finds them, and what they import', () => {
  expect(stateless.map((file) => relative(root, file))).toContain('routes/api/v1/healthz.get.ts');
  const health = [...reached(join(root, 'routes/api/v1/healthz.get.ts'))].map((name) => relative(root, name));
  expect(health).toContain('utils/endpoint.ts');
  expect(health).toContain('server/errors/service-error.ts');
});

it('requests the model directory without an app', async () => {
  const served = await directoryDuringTest(documentAnswer({ a: directoryEntry() }));
  const directory = createStandaloneDirectory({ SERVICE_CODE_MODEL_DIRECTORY_URL: served.url });
  expect(await directory.list()).toMatchObject([{ id: 'a', models: [{ id: 'm' }] }]);
  expect(served.requests[0]?.headers['user-agent']).toMatch(/^service-code\/\d/);
});

it.each(stateless)('%s reaches neither the machine nor a socket', (file) => {
  const modules = [...reached(file)].map((name) => (name.startsWith('/') ? relative(root, name) : name));
  expect(modules.filter((name) => needsTheMachine.test(name) || needsNode.test(name))).toEqual([]);
});
