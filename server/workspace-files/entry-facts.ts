/**
 * What the system says of the entries of a directory, asked by a thread. Asked one by one in the background they cost the
 * event loop several times what the system takes for them: a request, an object and a call back each.
 */
import type { Stats } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import type { Place } from '#server/files/open-within.ts';

/** What is shown of an entry is made of these. */
export type EntryFacts = Pick<Stats, 'mode' | 'size' | 'mtimeMs' | 'ino'>;

/** Numbers of an entry in an answer; all of them are 0 for one that has vanished. */
const NUMBERS = 4;

/** Text of a program, since the built server is one bundle that has no file for it. */
const PROGRAM = `
const { lstatSync } = require('node:fs');
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ at, names }) => {
  const list = names.split('\\0');
  const numbers = new Float64Array(list.length * ${NUMBERS});
  try {
    list.forEach((name, index) => {
      const stats = lstatSync(at + '/' + name, { throwIfNoEntry: false });
      if (stats) numbers.set([stats.mode, stats.size, stats.mtimeMs, stats.ino], index * ${NUMBERS});
    });
    parentPort.postMessage({ numbers }, [numbers.buffer]);
  } catch ({ code, message }) {
    parentPort.postMessage({ code, message });
  }
});
`;

const answerSchema = z.union([
  z.object({ numbers: z.instanceof(Float64Array) }),
  z.object({ code: z.string(), message: z.string() }),
]);

interface Thread {
  /** Rejects with the system's error, and when the thread ends. */
  ask(at: string, names: readonly string[]): Promise<Float64Array>;
}

function startThread(onEnd: () => void): Thread {
  const worker = new Worker(PROGRAM, { eval: true });
  worker.unref();
  /** Answers come in the order of the questions. */
  const asked: { resolve(numbers: Float64Array): void; reject(error: unknown): void }[] = [];
  worker.on('message', (message: unknown) => {
    const answer = answerSchema.parse(message);
    const question = asked.shift();
    if ('numbers' in answer) question?.resolve(answer.numbers);
    else question?.reject(Object.assign(new Error(answer.message), { code: answer.code }));
  });
  function ended(error: unknown): void {
    onEnd();
    for (const { reject } of asked.splice(0)) reject(error);
  }
  worker.on('error', ended).on('exit', () => ended(new Error('the thread has ended')));
  return {
    ask: (at, names) =>
      new Promise((resolve, reject) => {
        asked.push({ resolve, reject });
        // One text crosses in a tenth of the time of a thousand; no name has a NUL.
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage({ at, names: names.join('\0') });
      }),
  };
}

/** One for the process, from the first question on. */
let thread: Thread | undefined;

/**
 * The facts of entries of an opened directory, in the order of their names; undefined for those that have vanished. A link
 * is itself. Rejects with the system's errors.
 */
export async function factsOf(place: Place, names: readonly string[]): Promise<(EntryFacts | undefined)[]> {
  if (names.length === 0) return [];
  thread ??= startThread(() => (thread = undefined));
  const numbers = await thread.ask(place.at, names);
  return names.map((_, index) => {
    const [mode = 0, size = 0, mtimeMs = 0, ino = 0] = numbers.subarray(index * NUMBERS, (index + 1) * NUMBERS);
    return mode === 0 ? undefined : { mode, size, mtimeMs, ino };
  });
}
