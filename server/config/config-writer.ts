/** Writes `config.toml` of the home. `createConfig` receives it through the file's change lock. */
import { join } from 'node:path';
import { writeFileDurable, writeThroughLinks } from '#server/files/atomic-write.ts';

export const CONFIG_FILE = 'config.toml';

/** Throws what the file system throws. */
export interface ConfigWriter {
  /** Replaces the text. */
  write(text: string): Promise<void>;
  /** Writes the text that is about to lose its comments to `config.toml.bak`. */
  backUp(text: string): Promise<void>;
}

export function createConfigWriter(home: string): ConfigWriter {
  const path = join(home, CONFIG_FILE);
  return {
    write: (text) => writeThroughLinks(path, text),
    backUp: (text) => writeFileDurable(`${path}.bak`, text),
  };
}
