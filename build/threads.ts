/** Bundles the programs of worker threads: `import program from './x-program.ts?thread'` is the text of one script. */
import { resolve } from 'node:path';
import { build, type BuildResult } from 'esbuild';
import type { Plugin } from 'vite';
import * as z from 'zod';

const SUFFIX = '?thread';

/**
 * Bundles a program and its imports for `new Worker(text, { eval: true })`. Throws for a program that uses
 * `import.meta`: a script without a file has none.
 */
export async function bundleThread(path: string): Promise<{ text: string; files: string[] }> {
  const result: BuildResult<{ write: false; metafile: true }> = await build({
    entryPoints: [path],
    absWorkingDir: process.cwd(),
    bundle: true,
    write: false,
    metafile: true,
    format: 'cjs',
    platform: 'node',
    target: 'node20',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const metaUse = result.warnings.find(({ id }) => id === 'empty-import-meta');
  if (metaUse) {
    throw new Error(`${metaUse.location?.file ?? path} uses import.meta, which a thread's program does not have.`);
  }
  const [output] = result.outputFiles;
  return { text: output?.text ?? '', files: Object.keys(result.metafile.inputs).map((file) => resolve(file)) };
}

/** The plugin of the build, of the dev server and of tests. A change of any file of a program bundles it again. */
export function threadPrograms(): Plugin {
  return {
    name: 'thread-programs',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith(SUFFIX)) return null;
      const found = await this.resolve(source.slice(0, -SUFFIX.length), importer, { skipSelf: true });
      return found && found.id + SUFFIX;
    },
    async load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const path = id.slice(0, -SUFFIX.length);
      // Watched also when the bundle fails, so that a correction is noticed.
      this.addWatchFile(path);
      try {
        const { text, files } = await bundleThread(path);
        for (const file of files) this.addWatchFile(file);
        return `export default ${stringLiteral(text)};`;
      } catch (error) {
        for (const file of filesWithErrors(error)) this.addWatchFile(file);
        throw error;
      }
    },
  };
}

/**
 * The text as a string literal in which other plugins find nothing to replace: Nitro inserts values for
 * `process.env.NODE_ENV`, `import.meta.dev` and `typeof window` everywhere in a module, even in its strings.
 */
export const stringLiteral = (text: string) =>
  JSON.stringify(text)
    .replaceAll('process', String.raw`proces\u0073`)
    .replaceAll('import', String.raw`impor\u0074`)
    .replaceAll('typeof', String.raw`typeo\u0066`);

const failureSchema = z.object({ errors: z.array(z.object({ location: z.object({ file: z.string() }).nullable() })) });

function filesWithErrors(error: unknown): string[] {
  const failure = failureSchema.safeParse(error);
  const errors = failure.data?.errors ?? [];
  return errors.flatMap(({ location }) => (location ? [resolve(location.file)] : []));
}
