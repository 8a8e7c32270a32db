/** Filters a project's files by trust: the MCP servers that they name are programs that run without an approval. */
import { lstat } from 'node:fs/promises';
import type { Logger } from '#server/logging/log.ts';
import type { IgnoredConfig } from '#server/project-files/ignored-config.ts';
import type { Layer } from './layers.ts';

export interface TrustDeps {
  /** Whether the user trusts this exact directory. */
  trusted(directory: string): Promise<boolean>;
  log: Pick<Logger, 'warn'>;
}

export interface TrustedLayers {
  layers: Layer[];
  /** Untrusted layers whose file exists. */
  ignored: IgnoredConfig[];
}

const exists = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** Separates the layers whose directories are all trusted. An unreadable trust is treated as none. */
export async function trustedLayers(layers: readonly Layer[], { trusted, log }: TrustDeps): Promise<TrustedLayers> {
  const isTrusted = (directory: string) =>
    trusted(directory).catch((error: unknown) => {
      log.warn('whether a directory is trusted cannot be read; its MCP servers do not count', {
        directory,
        err: error,
      });
      return false;
    });
  const answers = new Map<string, boolean>();
  for (const directory of new Set(layers.flatMap(({ needsTrust }) => needsTrust))) {
    answers.set(directory, await isTrusted(directory));
  }
  const found: TrustedLayers = { layers: [], ignored: [] };
  for (const layer of layers) {
    const untrusted = layer.needsTrust.find((directory) => answers.get(directory) !== true);
    if (untrusted === undefined) found.layers.push(layer);
    else if (await exists(layer.path)) {
      found.ignored.push({ path: layer.path, directory: untrusted, reason: 'untrusted' });
    }
  }
  return found;
}
