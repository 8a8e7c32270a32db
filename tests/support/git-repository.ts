/** Git repositories for tests, created with git. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** Ignores the machine's git configuration and sets an author. */
const ENVIRONMENT = {
  PATH: process.env.PATH,
  HOME: '/nonexistent',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

export interface GitRepository {
  root: string;
  /** Runs git in the repository; resolves to its output. */
  git(...args: string[]): Promise<string>;
  /** Like `git`, with `input` on stdin. */
  feed(input: string, ...args: string[]): Promise<string>;
  /** Writes files and creates their directories. */
  write(files: Record<string, string | Uint8Array>): Promise<void>;
  /** Commits all files of the work tree. */
  commit(message?: string): Promise<void>;
}

export async function createRepository(root: string): Promise<GitRepository> {
  await mkdir(root, { recursive: true });
  const feed: GitRepository['feed'] = async (input, ...args) => {
    const settings = ['-c', 'init.defaultBranch=main', '-c', 'protocol.file.allow=always'];
    const maxBuffer = 256 * 1024 * 1024;
    const run = execute('git', [...settings, ...args], { cwd: root, env: ENVIRONMENT, maxBuffer });
    run.child.stdin?.on('error', () => undefined).end(input);
    return (await run).stdout;
  };
  const git: GitRepository['git'] = (...args) => feed('', ...args);
  await git('init', '-q');
  return {
    root,
    git,
    feed,
    async write(files) {
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(root, name)), { recursive: true });
        await writeFile(join(root, name), content);
      }
    },
    async commit(message = 'commit') {
      await git('add', '-A');
      await git('commit', '-q', '--allow-empty', '-m', message);
    },
  };
}
