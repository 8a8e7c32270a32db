/** Writes `config.toml` of the home. `createConfig` receives it through the file's change lock. */
import { join } from 'node:path';
import { writeFileDurable, writeThroughLinks } from '#server/files/atomic-write.ts';

export const CONFIG_FILE = 'config.toml';

/** All functions throw errors of the file system. */
export interface ConfigWriter {
  /** Replaces the file's text. */
  write(text: string): Promise<void>;
  /** Writes a text whose comments will be lost to `config.toml.bak`. */
  backUp(text: string): Promise<void>;
}

export function createConfigWriter(home: string): ConfigWriter {
  const path = join(home, CONFIG_FILE);
  return {
    write: (text) => writeThroughLinks(path, text),
    backUp: (text) => writeFileDurable(`${path}.bak`, text),
  };
}
