/** Starts `service-code run` of the built output. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import * as z from 'zod';

export const COMMAND = resolve(import.meta.dirname, '../../bin/service-code.cjs');
const lineSchema = z.looseObject({ type: z.string() });

export type JsonLine = z.infer<typeof lineSchema>;

export interface RunningCommand {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** The complete lines of stdout, each of which must be an object with a type. */
  lines(): JsonLine[];
  /** Resolves to the exit code. */
  exited: Promise<number>;
}

export interface CommandOptions {
  home: string;
  cwd: string;
  /** Text of stdin, which ends after it; default: /dev/null; null: a pipe that stays open. */
  stdin?: string | null;
  env?: NodeJS.ProcessEnv;
}

/** The environment of this test run may name another server. */
const { SERVICE_CODE_URL: _url, SERVICE_CODE_TOKEN: _token, ...environment } = process.env;

export function startCommand(args: string[], { home, cwd, stdin, env = {} }: CommandOptions): RunningCommand {
  const child = spawn(process.execPath, [COMMAND, ...args], {
    cwd,
    env: { ...environment, SERVICE_CODE_HOME: home, ...env },
    stdio: [stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  let [out, err] = ['', ''];
  child.stdout?.on('data', (text: Buffer) => (out += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (err += text.toString()));
  if (typeof stdin === 'string') child.stdin?.end(stdin);
  return {
    child,
    stdout: () => out,
    stderr: () => err,
    lines: () =>
      out
        .split('\n')
        .slice(0, -1)
        .map((line) => lineSchema.parse(JSON.parse(line))),
    exited: once(child, 'close').then(([code]) => Number(code)),
  };
}
