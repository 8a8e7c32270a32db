// Writes `dist/`: the client as JavaScript with the transcript reducer bundled in, and declarations that refer to no
// file outside of this folder. The page and the tests use the sources instead.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import ts from 'typescript';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const entryPoints = [at('src/index.ts'), at('src/text.ts')];

/** Throws with the readable text of the errors. */
function check(diagnostics) {
  const host = {
    getCanonicalFileName: (name) => name,
    getCurrentDirectory: ts.sys.getCurrentDirectory,
    getNewLine: () => '\n',
  };
  if (diagnostics.length > 0) throw new Error(ts.formatDiagnostics(diagnostics, host));
}

/** The declarations of the sources in `src/`; those of the server that are bundled have none. */
function declarations() {
  const { config, error } = ts.readConfigFile(at('../../tsconfig.json'), ts.sys.readFile);
  check(error ? [error] : []);
  const { options, errors } = ts.convertCompilerOptionsFromJson(config.compilerOptions, at('../..'));
  check(errors);
  const emitted = { declaration: true, emitDeclarationOnly: true, noEmit: false };
  const program = ts.createProgram(entryPoints, {
    ...options,
    ...emitted,
    incremental: false,
    tsBuildInfoFile: undefined,
  });
  const files = [];
  for (const source of program.getSourceFiles()) {
    if (!source.fileName.startsWith(at('src/'))) continue;
    const path = source.fileName.replace(at('src/'), at('dist/')).replace(/\.ts$/, '.d.ts');
    const add = (_, text) => files.push([path, text.replaceAll(/(from '\.[^']*)\.ts'/g, "$1.js'")]);
    check(program.emit(source, add, undefined, true).diagnostics);
  }
  return files;
}

await rm(at('dist'), { recursive: true, force: true });
await build({
  entryPoints,
  outdir: at('dist'),
  bundle: true,
  format: 'esm',
  platform: 'neutral',
  target: 'es2022',
  packages: 'external',
});
for (const [path, text] of declarations()) {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}
