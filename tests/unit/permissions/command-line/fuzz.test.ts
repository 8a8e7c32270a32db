/**
 * Runs lines that are reported as plain in real Bash: only the line's commands may start, with the arguments in the
 * line. More lines: FUZZ_LINES=100000; other ones: FUZZ_SEED=7.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { readPlainLine } from '#server/permissions/command-line/reader.ts';
import { createLineGenerator } from './random-lines.ts';
import { startedPrograms } from './run-in-bash.ts';

const PLAIN_LINES = Number(process.env.FUZZ_LINES ?? 2000);
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const MAX_TRIES = PLAIN_LINES * 40;
const PROCESSES = 2;

interface Difference {
  line: string;
  started: string[];
}

/** Returns the programs that Bash started without a matching command in the plain line. */
function unnamed(line: string, started: readonly string[][]): Difference[] {
  const commands = readPlainLine(line) ?? [];
  return started
    .filter(
      ([name, ...args]) =>
        !commands.some((command) => {
          if (command.name !== name) return false;
          // Expansion may produce any arguments, but never another name.
          if (command.words.some(({ expands, hasVariable }) => expands || hasVariable)) return true;
          return JSON.stringify(command.words.map(({ text }) => text)) === JSON.stringify(args);
        }),
    )
    .map((words) => ({ line, started: words }));
}

test.skipIf(!existsSync('/bin/bash'))(
  'random plain lines start only the programs they name',
  { timeout: 60_000 + PLAIN_LINES * 30 },
  async () => {
    const reader = createCommandLineReader();
    const nextLine = createLineGenerator(SEED);
    const plain = new Set<string>();
    for (let tries = 0; tries < MAX_TRIES && plain.size < PLAIN_LINES; tries++) {
      const line = nextLine();
      // The strict reader, which is faster, rejects most lines already.
      if (!plain.has(line) && readPlainLine(line) && (await reader.read(line)).plain) plain.add(line);
    }
    expect(plain.size).toBe(PLAIN_LINES);

    const lines = [...plain];
    const size = Math.ceil(lines.length / PROCESSES);
    const folder = await mkdtemp(join(tmpdir(), 'command-lines-'));
    try {
      const batches = Array.from({ length: PROCESSES }, (_, index) => lines.slice(index * size, (index + 1) * size));
      const started = await Promise.all(
        batches.map((batch, index) => startedPrograms(batch, join(folder, `${index}`))),
      );
      const all = started.flat();
      expect(lines.flatMap((line, index) => unnamed(line, all[index] ?? []))).toEqual([]);
      // Check of the recorder: most lines start a program.
      expect(all.filter(({ length }) => length > 0).length).toBeGreaterThan(lines.length / 3);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
);
