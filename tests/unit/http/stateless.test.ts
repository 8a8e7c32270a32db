/** Endpoints that say `stateless` must run where there is no home, no socket and no native module. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '../../..');
const needsTheMachine = /^server\/(app|home|auth|journal|sessions|storage|tools|agent|workspaces|config)\b/;
const needsNode = /^(libsql|@vscode\/ripgrep|crossws|undici|node:(net|child_process|fs|fs\/promises|os))$/;

function files(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? files(path) : [path];
  });
}

/** Modules a file loads at run time; imports of types alone do not count. */
function imported(file: string): string[] {
  const source = readFileSync(file, 'utf8');
  const statements = source.matchAll(/^\s*(?:import|export)\s+(?!type\b)[^;]*?from\s+'([^']+)'/gm);
  return [...statements, ...source.matchAll(/\bimport\('([^']+)'\)/g)].map((match) => match[1] ?? '');
}

function reached(file: string, seen = new Set<string>()): Set<string> {
  for (const name of imported(file)) {
    const target = name.startsWith('.') ? resolve(dirname(file), name) : name;
    if (seen.has(target)) continue;
    seen.add(target);
    if (name.startsWith('.')) reached(target, seen);
  }
  return seen;
}

const stateless = files(join(root, 'routes')).filter((file) => /\bstateless: true\b/.test(readFileSync(file, 'utf8')));

it('finds them', () => {
  expect(stateless.map((file) => relative(root, file))).toContain('routes/api/v1/healthz.get.ts');
});

it.each(stateless)('%s reaches neither the machine nor a socket', (file) => {
  const modules = [...reached(file)].map((name) => (name.startsWith('/') ? relative(root, name) : name));
  expect(modules.filter((name) => needsTheMachine.test(name) || needsNode.test(name))).toEqual([]);
});
