/** Plugin of the page's build: fails the build when the page sends more than its limits before a person can use it. */
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Plugin, Rolldown } from 'vite';

type Chunk = Rolldown.OutputChunk;

export interface PageLimit {
  /** Names of the chunks that are loaded. */
  chunks: readonly string[];
  /** Bytes on the wire, with all that these chunks import statically. */
  bytes: number;
}

export interface PageLimits {
  /** With the document. */
  firstView: PageLimit;
  /** In addition to the first view. */
  session: PageLimit;
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
      const chunksOf = ({ chunks }: PageLimit) =>
        chunks.map((name) => {
          const chunk = Object.values(bundle).find((file) => isChunk(file) && file.name === name);
          return isChunk(chunk) ? chunk : this.error(`The page has no chunk ${name}.`);
        });
      const first = filesOf(bundle, chunksOf(limits.firstView)).add('index.html');
      const added = [...filesOf(bundle, chunksOf(limits.session))].filter((name) => !first.has(name));
      const [view, session] = [await totalSize(dir, first), await totalSize(dir, added)];
      const figures =
        `first view ${kilobytes(view)} (limit ${kilobytes(limits.firstView.bytes)}), ` +
        `a session ${kilobytes(session)} more (limit ${kilobytes(limits.session.bytes)})`;
      if (view > limits.firstView.bytes || session > limits.session.bytes) {
        this.error(`The page is too large: ${figures}.`);
      }
      process.stdout.write(`page: ${figures}\n`);
    },
  },
});
