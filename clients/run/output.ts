/** The output of a run: the answer or JSON lines on stdout, progress on stderr. */
import type { Writable } from 'node:stream';
import { visibleText } from '@service-code/client/text';

/** Longer progress is cut. */
const LINE_CHARS = 200;
const CONTROLS = /(?![\t\n])\p{Cc}/gu;

export interface Output {
  /** A line of JSON; ignored without `--json`. */
  record(line: object): void;
  /** The answer, verbatim but for a terminal, which it cannot control; ignored with `--json`, whose result contains it. */
  answer(text: string): void;
  /** A line for people. Texts of models cannot control the terminal. */
  note(text: string): void;
  /** Resolves to whether the reader has received everything; to false when the signal aborts. */
  flushed(signal: AbortSignal): Promise<boolean>;
}

export interface OutputOptions {
  stdout: Writable & { isTTY?: boolean };
  stderr: Writable;
  json: boolean;
  /** The reader of stdout has gone. */
  onClosed(): void;
}

export function createOutput({ stdout, stderr, json, onClosed }: OutputOptions): Output {
  let isClosed = false;
  stdout.on('error', () => {
    isClosed = true;
    onClosed();
  });
  stderr.on('error', () => undefined);
  const print = (text: string) => {
    if (!isClosed) stdout.write(text);
  };
  return {
    record: (line) => json && print(`${JSON.stringify(line)}\n`),
    answer(text) {
      if (json || text === '') return;
      const line = `${text.replace(/\n$/, '')}\n`;
      print(stdout.isTTY === true ? line.replaceAll(CONTROLS, '') : line);
    },
    note(text) {
      const line = visibleText(text).replaceAll('\n', ' ');
      stderr.write(`${line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line}\n`);
    },
    flushed: (signal) =>
      new Promise((resolve) => {
        if (isClosed) return resolve(false);
        signal.addEventListener('abort', () => resolve(false));
        stdout.write('', (error) => resolve(!error));
      }),
  };
}
