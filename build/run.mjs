// Builds the page and the server. Two lines when all is well, of which the first has the size of the page; everything that the tools said when it is not.
import { spawnSync } from 'node:child_process';

/** The first error's own text, for the last line: a stack follows it. Rollup puts the loaded module in front. */
const reasonIn = (output) => /^Error: (?:Could not load .+? \(imported by .+?\): )?(.+)$/m.exec(output)?.[1];

const begun = performance.now();
let said = '';
for (const args of [
  ['vite', 'build', 'web', '--logLevel', 'warn'],
  ['nitro', 'build'],
]) {
  const { status, stdout, stderr, error } = spawnSync('npx', ['--no-install', ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  said += (stdout ?? '') + (stderr ?? '');
  if (status !== 0) {
    const reason = error?.message ?? reasonIn(said) ?? `status ${status}`;
    process.stderr.write(`${said}\n${args.join(' ')} failed: ${reason}\n`);
    process.exit(1);
  }
}
console.log(/^page: .+$/m.exec(said)?.[0]);
console.log(`built .output in ${((performance.now() - begun) / 1000).toFixed(0)} s`);
