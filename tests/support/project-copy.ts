/** A copy of the project with files of the test, to be built or served by `nitro dev`. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { PATIENCE_MS, until } from './patience.ts';
import { freePort } from './ports.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const root = resolve(import.meta.dirname, '../..');
const SOURCES = [
  'bin',
  'build',
  'built-server.ts',
  'clients',
  'entry.ts',
  'nitro.config.ts',
  'package.json',
  'plugins',
  'routes',
  'server',
  'tsconfig.json',
  'utils',
];

/** Deadline for what a build of the dev server precedes. */
export const BUILD_PATIENCE_MS = 5 * PATIENCE_MS;

export interface DevelopmentServer {
  url: string;
  process: ChildProcess;
  /** Everything printed so far. */
  output(): string;
  /** The part of it that was printed on standard error. */
  errors(): string;
}

export interface ProjectCopy {
  path: string;
  /** The program of the built output. */
  entry: string;
  write(name: string, text: string): Promise<void>;
  /** Replaces a text of a file, which must be there. */
  edit(name: string, text: string, replacement: string): Promise<void>;
  /** Runs `nitro build`; resolves to its exit code and what it printed. */
  build(): Promise<{ code: number; output: string }>;
  /** Starts `nitro dev` with this home, and waits for the health check. */
  develop(home: string): Promise<DevelopmentServer>;
  remove(): Promise<void>;
}

/** Copies the sources of the server, without the page. */
export async function copyProject(): Promise<ProjectCopy> {
  const path = await temporaryDirectory();
  for (const name of SOURCES) await cp(join(root, name), join(path, name), { recursive: true });
  await symlink(join(root, 'node_modules'), join(path, 'node_modules'));

  async function write(name: string, text: string): Promise<void> {
    const file = join(path, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, text);
  }

  function run(args: string[], env: NodeJS.ProcessEnv) {
    const child = spawn(process.execPath, args, { cwd: path, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    let errors = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (printed += text.toString()));
    child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
    return { child, output: () => printed, errors: () => errors };
  }

  return {
    path,
    entry: join(path, '.output/server/index.mjs'),
    write,
    async edit(name, text, replacement) {
      const file = await readFile(join(path, name), 'utf8');
      if (!file.includes(text)) throw new Error(`${name} does not contain ${text}`);
      await write(name, file.replace(text, replacement));
    },
    async build() {
      const { child, output } = run([join(root, 'node_modules/nitropack/dist/cli/index.mjs'), 'build'], process.env);
      const [code] = await once(child, 'close');
      return { code: Number(code), output: output() };
    },
    async develop(home) {
      // Nitro behaves differently if the environment mentions a test or CI.
      const {
        CI: _ci,
        NODE_ENV: _mode,
        TEST: _test,
        VITEST: _vitest,
        PORT: _port,
        NITRO_PORT: _nitro,
        ...env
      } = process.env;
      const url = `http://127.0.0.1:${await freePort()}`;
      const args = [join(path, 'bin/dev.cjs'), '--port', new URL(url).port];
      const { child, output, errors } = run(args, { ...env, SERVICE_CODE_HOME: home });
      const health = () =>
        fetch(`${url}/api/v1/healthz`).then(
          (response) => response.text(),
          () => '',
        );
      await until(
        async () => {
          if (child.exitCode !== null) throw new Error(`nitro dev ended with ${child.exitCode}:\n${output()}`);
          return (await health()).includes('{"ok":true}');
        },
        'the first answer',
        BUILD_PATIENCE_MS,
      );
      return { url, process: child, output, errors };
    },
    remove: () => rm(path, { recursive: true, force: true }),
  };
}
