/** Builds TypeScript programs that a test runs as processes, because Node 20 cannot run TypeScript. */
import { fork, type ChildProcess } from 'node:child_process';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'vite';
import { threadPrograms } from '../../build/threads.ts';

/** Bundles a file of this folder into `outDir`; returns the program's path. */
export async function buildProgram(name: string, outDir: string): Promise<string> {
  await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [threadPrograms()],
    // Native modules are not bundled; a program with such imports has to be in a folder below `node_modules`.
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
