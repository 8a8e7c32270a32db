/** Files that the bundler's trace cannot see: packages compute their names, or they are loaded by `createRequire`. */
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const { resolve } = createRequire(import.meta.url);
const platform = `${process.platform}-${process.arch}`;

/** Files of the terminal package, of which each system has some. */
const ptyFiles = ['pty.node', 'spawn-helper', 'conpty.node', 'conpty_console_list.node'];

/** Files that `sharp` loads, and the libraries they link: sibling packages, for the installed platforms. */
function imageFiles(): string[] {
  const folder = join(dirname(resolve('sharp')), '../../@img');
  const packages = readdirSync(folder).filter((name) => name.startsWith('sharp-'));
  return packages.flatMap((name) => {
    const libraries = readdirSync(join(folder, name, 'lib')).filter((file) =>
      /\.(?:node|dll|dylib|so[.\d]*)$/.test(file),
    );
    return [join(folder, name, 'package.json'), ...libraries.map((file) => join(folder, name, 'lib', file))];
  });
}

/** Absolute paths, as far as this platform has the package. */
export function nativeFiles(): string[] {
  const names = [
    'libsql',
    'libsql/promise',
    `@vscode/ripgrep-${platform}/bin/${process.platform === 'win32' ? 'rg.exe' : 'rg'}`,
    ...ptyFiles.map((file) => `@lydell/node-pty-${platform}/${file}`),
  ];
  const found = names.flatMap((name) => {
    try {
      return resolve(name);
    } catch {
      // An optional package for another platform; what needs it says so when it runs.
      return [];
    }
  });
  return [...found, ...imageFiles()];
}
