/** Plugin of the page's build: fails the build when the page sends more than its limits before a person can use it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

type Chunk = Rolldown.OutputChunk;

export interface PageLimits {
  /** Bytes on the wire of the document and all that it loads. */
  firstView: number;
  /** The same, with all that opening a session adds. */
  withSession: number;
  /** Matches the files of the sources that opening a session loads. */
  sessionSources: RegExp;
}

const isChunk = (file: Rolldown.OutputBundle[string] | undefined): file is Chunk => file?.type === 'chunk';

/** Names of the chunks, all that they import statically, and their styles. */
function filesOf(bundle: Rolldown.OutputBundle, chunks: readonly Chunk[]): Set<string> {
  const files = new Set<string>();
  const add = (chunk: Chunk) => {
    if (files.has(chunk.fileName)) return;
    files.add(chunk.fileName);
    for (const style of chunk.viteMetadata?.importedCss ?? []) files.add(style);
    for (const name of chunk.imports) {
      const imported = bundle[name];
      if (isChunk(imported)) add(imported);
    }
  };
  chunks.forEach(add);
  return files;
}

/** Size as it is sent to a browser. */
async function wireSize(dir: string, name: string): Promise<number> {
  const path = join(dir, name);
  return (await stat(`${path}.br`).catch(() => stat(path))).size;
}

async function totalSize(dir: string, names: Iterable<string>): Promise<number> {
  const sizes = await Promise.all(Array.from(names, (name) => wireSize(dir, name)));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const kilobytes = (bytes: number) => `${Math.ceil(bytes / 1000)} kB`;

/** Runs after the plugin that writes the compressed files, and prints the figures. */
export const limitedSize = (limits: PageLimits): Plugin => ({
  name: 'limited-size',
  apply: 'build',
  writeBundle: {
    order: 'post',
    sequential: true,
    async handler({ dir = '' }, bundle) {
      const chunks = Object.values(bundle).filter(isChunk);
      const first = filesOf(
        bundle,
        chunks.filter(({ isEntry }) => isEntry),
      ).add('index.html');
      const opened = chunks.filter(({ moduleIds }) => moduleIds.some((id) => limits.sessionSources.test(id)));
      if (opened.length === 0) this.error(`No source of the page matches ${limits.sessionSources.source}.`);
      const added = [...filesOf(bundle, opened)].filter((name) => !first.has(name));
      const [view, session] = [await totalSize(dir, first), await totalSize(dir, added)];
      const figures =
        `first view ${kilobytes(view)} (limit ${kilobytes(limits.firstView)}), a session ${kilobytes(session)} more ` +
        `(limit of both ${kilobytes(limits.withSession)})`;
      if (view > limits.firstView || view + session > limits.withSession) {
        this.error(`The page is too large: ${figures}.`);
      }
      process.stdout.write(`page: ${figures}\n`);
    },
  },
});
