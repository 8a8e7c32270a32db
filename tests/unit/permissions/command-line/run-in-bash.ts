/** Runs command lines in real Bash and records which programs it would have started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * PATH names an empty folder, so Bash finds no program and passes its name and arguments to this function. Some succeed
 * and some fail, so that both sides of `&&` and `||` run. The exit trap waits for background jobs.
 */
const RECORDER = `
command_not_found_handle() {
  printf '%s\\0' "$LINE_NUMBER" "$#" "$@" >>"$RECORD/$BASHPID"
  case $1 in *[13579]) return 1 ;; esac
}
trap wait EXIT
`;

/** Runs many lines in one process. Standard input is /dev/null: Bash reads its startup files if it is a socket. */
const DRIVER = `
mapfile -d '' -t lines <lines
cd work
for number in "\${!lines[@]}"; do
  LINE_NUMBER=$number RECORD=$PWD/../record BASH_ENV=$PWD/../recorder PATH=$PWD/../nothing y='two words' \\
    /bin/bash -c "\${lines[number]}" </dev/null >/dev/null 2>&1
done
`;

const MAX_RUN_MS_PER_LINE = 60;

/** Returns for each line the programs it started, as name and arguments, unordered. `folder` must be empty. */
export async function startedPrograms(lines: readonly string[], folder: string): Promise<string[][][]> {
  for (const name of ['work', 'nothing', 'record']) await mkdir(join(folder, name), { recursive: true });
  await writeFile(join(folder, 'lines'), lines.map((line) => `${line}\0`).join(''));
  await writeFile(join(folder, 'recorder'), RECORDER);
  const env = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8', HOME: join(folder, 'work') };
  const bash = spawn('/bin/bash', ['-c', DRIVER], {
    cwd: folder,
    env,
    stdio: 'ignore',
    timeout: 60_000 + lines.length * MAX_RUN_MS_PER_LINE,
  });
  const [code] = await once(bash, 'close');
  // The exit status is that of the last line, unless the driver was killed.
  if (code === null) throw new Error('the lines took too long');
  const started: string[][][] = lines.map(() => []);
  for (const name of await readdir(join(folder, 'record'))) {
    const fields = (await readFile(join(folder, 'record', name), 'utf8')).split('\0');
    for (let at = 0; at + 1 < fields.length;) {
      const count = Number(fields[at + 1]);
      started[Number(fields[at])]?.push(fields.slice(at + 2, at + 2 + count));
      at += 2 + count;
    }
  }
  return started;
}
