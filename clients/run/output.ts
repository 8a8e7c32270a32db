/** The output of a run: the answer or JSON lines on stdout, progress on stderr. */
import type { Writable } from 'node:stream';
import { visibleText } from '@service-code/client/text';

/** Longer progress is cut. */
const LINE_CHARS = 200;

export interface Output {
  /** A line of JSON; ignored without `--json`. */
  record(line: object): void;
  /** The answer; ignored with `--json`, whose result contains it. */
  answer(text: string): void;
  /** A line for people. Texts of models cannot control the terminal. */
  note(text: string): void;
  /** Resolves to whether the reader has received everything. */
  flushed(): Promise<boolean>;
}

export interface OutputOptions {
  stdout: Writable;
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
    answer: (text) => !json && text !== '' && print(`${text.replace(/\n$/, '')}\n`),
    note(text) {
      const line = visibleText(text).replaceAll('\n', ' ');
      stderr.write(`${line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line}\n`);
    },
    flushed: () =>
      new Promise((resolve) => {
        if (isClosed) return resolve(false);
        stdout.write('', (error) => resolve(!error));
      }),
  };
}
