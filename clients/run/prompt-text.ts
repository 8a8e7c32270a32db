/** The text of the prompt: the argument, and what is piped into the program. */
import type { Readable } from 'node:stream';
import { RunError } from './exit-codes.ts';

/** A request must not exceed 32 MiB. */
const MOST_BYTES = 24 * 1024 * 1024;
/** An inherited pipe without a writer must not block a run whose prompt is its argument. */
const FIRST_BYTE_MS = 3000;

export interface PromptSource {
  /** `-` is the piped text alone. */
  argument: string | undefined;
  /** Undefined for a terminal, and when the answers of approvals are read from it. */
  piped: Readable | undefined;
  warn(message: string): void;
}

async function readAll(input: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of input) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > MOST_BYTES) throw new RunError('bad_use', `the piped text exceeds ${MOST_BYTES} bytes`);
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** Whether a byte or the end arrives in time. */
function arrives(input: Readable): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(false), FIRST_BYTE_MS);
    const onData = () => settle(true);
    function settle(has: boolean) {
      clearTimeout(timer);
      input.off('readable', onData).off('end', onData).off('error', onData);
      resolve(has);
    }
    input.on('readable', onData).on('end', onData).on('error', onData);
  });
}

/** A fence that the text does not contain. */
export function fenced(text: string): string {
  const longest = Math.max(2, ...Array.from(text.matchAll(/`+/g), ([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text.replace(/\n$/, '')}\n${fence}`;
}

/** Throws RunError when there is no prompt. */
export async function promptText({ argument, piped, warn }: PromptSource): Promise<string> {
  if (argument?.trim() === '') throw new RunError('bad_use', 'the prompt is empty');
  if (argument !== undefined && argument !== '-') {
    if (!piped) return argument;
    if (!(await arrives(piped))) {
      warn(`nothing was piped within ${FIRST_BYTE_MS / 1000} s: the prompt is the argument alone`);
      return argument;
    }
    const text = await readAll(piped);
    return text.trim() === '' ? argument : `${argument}\n\n${fenced(text)}`;
  }
  const text = piped ? await readAll(piped) : '';
  if (text.trim() === '') throw new RunError('bad_use', 'there is no prompt: pass one as an argument or by a pipe');
  return text;
}
