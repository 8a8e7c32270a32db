// A project of many files, in a shape that projects have: few directories with many files, deep and shallow ones.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const WORDS =
  'app core data event file graph http index job key list model node order page query route state task user'.split(' ');
const EXTENSIONS = ['ts', 'ts', 'tsx', 'js', 'json', 'md', 'css', 'test.ts'];

/** Makes so many files, `perDirectory` in each directory, under a `.gitignore` that a project has. */
export function makeFileTree(root, { files, perDirectory }) {
  writeFileSync(
    join(root, '.gitignore'),
    'node_modules/\ndist/\n*.log\n.env*\n!.env.example\ncoverage/\n/tmp/\n*.tsbuildinfo\n',
  );
  let made = 0;
  for (let n = 0; made < files; n += 1) {
    const word = (step) => WORDS[Math.floor(n / step) % WORDS.length];
    const directory = join(root, `${word(400)}-${Math.floor(n / 400)}`, word(20), `${word(1)}-${n % 20}`);
    mkdirSync(directory, { recursive: true });
    for (let m = 0; m < perDirectory && made < files; m += 1) {
      const name = `${WORDS[(n * 7 + m) % WORDS.length]}-${WORDS[(n + m * 3) % WORDS.length]}${m}`;
      writeFileSync(join(directory, `${name}.${EXTENSIONS[m % EXTENSIONS.length]}`), '');
      made += 1;
    }
  }
}
