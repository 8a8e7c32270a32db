/** The bridge in a process of its own, as an editor starts it. */
import { spawn, type ChildProcess } from 'node:child_process';
import { resolve } from 'node:path';
import { Readable } from 'node:stream';
import type { ClientCapabilities } from '@agentclientprotocol/sdk';
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

const COMMAND = resolve(import.meta.dirname, '../../bin/service-code.cjs');

/** Starts the bridge; the caller closes it. */
export async function startAcp(options: AcpProcessOptions): Promise<AcpProcess> {
  const { url, token, capabilities, raw = false, nodeOptions = [] } = options;
  const child = spawn(process.execPath, [...nodeOptions, COMMAND, 'acp'], {
    env: { ...process.env, SERVICE_CODE_URL: url, SERVICE_CODE_TOKEN: token },
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
