/** Files that the bundler's trace cannot see because packages compute their names. */
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;

/** Absolute paths, as far as this platform has the package. */
export function nativeFiles(): string[] {
  const names = [`@vscode/ripgrep-${platform}/bin/${process.platform === 'win32' ? 'rg.exe' : 'rg'}`];
  return names.flatMap((name) => {
    try {
      return resolve(name);
    } catch {
      // An optional package for another platform; what needs it says so when it runs.
      return [];
    }
  });
}
