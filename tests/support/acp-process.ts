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

interface EditorOptions {
  capabilities?: ClientCapabilities;
  /** Sends no `initialize`. */
  raw?: boolean;
}

export interface AcpProcessOptions extends EditorOptions {
  url: string;
  token: string;
  nodeOptions?: string[];
}

const COMMAND = resolve(import.meta.dirname, '../../bin/service-code.cjs');

/** Starts the bridge for a server; the caller closes it. */
export function startAcp({ url, token, nodeOptions = [], ...options }: AcpProcessOptions): Promise<AcpProcess> {
  const env = { ...process.env, SERVICE_CODE_URL: url, SERVICE_CODE_TOKEN: token };
  return startAgent({ command: process.execPath, args: [...nodeOptions, COMMAND, 'acp'], env }, options);
}

export interface AgentCommand {
  command: string;
  args: string[];
  env: NodeJS.ProcessEnv;
  cwd?: string;
}

/** Starts any command of an agent; the caller closes it. */
export async function startAgent(
  { command, args, ...options }: AgentCommand,
  { capabilities, raw = false }: EditorOptions = {},
): Promise<AcpProcess> {
  const child = spawn(command, args, { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
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
