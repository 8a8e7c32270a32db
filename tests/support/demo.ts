/** Runs `npm run demo` on the built output, on a free port. */
import { spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { until } from './patience.ts';

const COMMAND = resolve(import.meta.dirname, '../../bin/demo.cjs');

export interface Demo {
  /** The printed address, which has the token in its fragment. */
  address: string;
  stop(): Promise<void>;
}

export async function startDemo(): Promise<Demo> {
  const child = spawn(process.execPath, [COMMAND, '--port', '0', '--no-open'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let printed = '';
  child.stdout.on('data', (text: Buffer) => (printed += text.toString()));
  child.stderr.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = new Promise<void>((done) => child.once('exit', () => done()));
  const address = await until(() => {
    if (child.exitCode !== null) throw new Error(`the demo has exited:\n${printed}`);
    return /http:\/\/\S+#token=\S+/.exec(printed)?.[0];
  }, 'the address of the demo');
  return {
    address,
    async stop() {
      child.kill('SIGTERM');
      await exited;
    },
  };
}
