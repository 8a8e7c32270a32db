/** The bridge in a process of its own, as an editor starts it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
import { build } from 'esbuild';
import { attach, connectEditor, type Editor } from './acp-editor.ts';

export interface AcpProcess extends Editor {
  process: ChildProcess;
  /** All bytes of its standard output. */
  output(): string;
  errors(): string;
  /** Stops reading its output, until the returned function is called. */
  stopReading(): () => void;
  exited: Promise<number | null>;
  /** Ends its input, and waits until it has exited. */
  close(): Promise<number | null>;
}

export interface AcpProcessOptions {
  url: string;
  token: string;
  capabilities?: ClientCapabilities;
  /** Sends no `initialize`. */
  raw?: boolean;
  nodeOptions?: string[];
}

const ROOT = resolve(import.meta.dirname, '../..');
let bundled: Promise<string> | undefined;

/** The program of the bridge, bundled without its dependencies. */
async function bundle(): Promise<string> {
  const outfile = join(ROOT, `node_modules/.cache/acp/launcher-${process.pid}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, 'acp-launcher.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@service-code/source'],
    external: ['@agentclientprotocol/sdk', 'undici', 'zod', 'ulid'],
  });
  return outfile;
}

/** Starts the bridge; the caller closes it. */
export async function startAcp(options: AcpProcessOptions): Promise<AcpProcess> {
  const { url, token, capabilities, raw = false, nodeOptions = [] } = options;
  bundled ??= bundle();
  const child = spawn(process.execPath, [...nodeOptions, await bundled], {
    env: { ...process.env, SERVICE_URL: url, SERVICE_TOKEN: token },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stderr.on('data', (text: Buffer) => (errors += text.toString()));
  const exited = new Promise<number | null>((done) => child.once('exit', (code) => done(code)));
  // Writes fail after a kill.
  child.stdin.on('error', () => {});
  let reading = Promise.resolve();
  async function* recorded(): AsyncGenerator<Buffer> {
    for await (const chunk of child.stdout) {
      await reading;
      output += String(chunk);
      yield chunk;
    }
  }
  const input = Readable.from(recorded());
  const editor = raw ? attach(input, child.stdin) : await connectEditor(input, child.stdin, capabilities);
  return Object.assign(editor, {
    process: child,
    output: () => output,
    errors: () => errors,
    stopReading() {
      let resume = () => {};
      reading = new Promise((resolve) => (resume = resolve));
      return () => resume();
    },
    exited,
    close() {
      child.stdin.end();
      return exited;
    },
  });
}
