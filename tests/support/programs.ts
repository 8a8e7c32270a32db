/** Programs of our own TypeScript that a test runs as processes: Node 20 cannot run the sources. */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';

/** Bundles a file of this folder into `outDir`; returns the program's path. */
export async function buildProgram(name: string, outDir: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    // Native modules stay where they are; a program that needs them must lie below this folder's `node_modules`.
    ssr: { noExternal: true, external: ['libsql'] },
    build: {
      ssr: join(import.meta.dirname, `${name}.ts`),
      outDir,
      emptyOutDir: false,
      rolldownOptions: { output: { entryFileNames: `${name}.mjs` } },
    },
  });
  return join(outDir, `${name}.mjs`);
}

/** A folder for programs that load native modules. */
export const programFolder = (): Promise<string> => mkdtemp(join(import.meta.dirname, '../../node_modules/.program-'));

export const startProgram = (path: string, args: string[] = []): ChildProcess => fork(path, args, { execArgv: [] });
