/** Files that the bundler's trace cannot see: packages compute their names, or they are loaded by `createRequire`. */
import { createRequire } from 'node:module';

const { resolve } = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;

/** Of which each system has some. */
const ptyFiles = ['pty.node', 'spawn-helper', 'conpty.node', 'conpty_console_list.node'];

/** Absolute paths, as far as this platform has the package. */
export function nativeFiles(): string[] {
  const names = [
    'libsql',
    // Loaded in a thread.
    'ajv',
    'ajv/dist/2019.js',
    'ajv/dist/2020.js',
    'linkedom',
    '@mozilla/readability',
    `@vscode/ripgrep-${platform}/bin/${process.platform === 'win32' ? 'rg.exe' : 'rg'}`,
    ...ptyFiles.map((file) => `@lydell/node-pty-${platform}/${file}`),
  ];
  return names.flatMap((name) => {
    try {
      return resolve(name);
    } catch {
      // An optional package for another platform; what needs it says so when it runs.
      return [];
    }
  });
}
