import { describe, expect, test } from 'vitest';
import type { SyntaxTree } from '#server/permissions/command-line/parser.ts';
import { createTreeParser, loadTreeParser } from '#server/permissions/command-line/parser.ts';
import type { WasmParser } from '#server/permissions/command-line/parser.ts';
import { createCommandLineReader } from '#server/permissions/command-line/command-line-reader.ts';
import { createLogger } from '#server/logging/log.ts';
import { decideLine, readCorpus } from './corpus.ts';
import { createLineGenerator } from './random-lines.ts';

const { ruleSets, cases } = readCorpus();

describe('the corpus', () => {
  const reader = createCommandLineReader();

  test('is large, and has no duplicate lines', () => {
    expect(cases.length).toBeGreaterThanOrEqual(300);
    expect(new Set(cases.map(({ line }) => line)).size).toBe(cases.length);
  });

  test.each(cases.map((known) => [known.section, known.line, known] as const))(
    '%s: %j',
    async (_section, line, known) => {
      const reading = await reader.read(line);
      const { plain, unreadable, cd, commands, guarded } = reading;
      expect({ plain, unreadable, cd, commands }).toEqual({
        plain: known.plain,
        unreadable: known.unreadable,
        cd: known.cd,
        commands: known.commands,
      });
      expect(guarded[0]).toBe(line);
      expect(guarded).toEqual(expect.arrayContaining([...known.commands, ...known.guarded]));
      expect(Object.fromEntries(ruleSets.map((set) => [set.name, decideLine(set, line, reading)]))).toEqual(
        known.verdicts,
      );
    },
  );
});

describe('reading', () => {
  test('the grammar is loaded for the first line, a single time', async () => {
    let loads = 0;
    const reader = createCommandLineReader({
      loadParser(onBroken) {
        loads++;
        return loadTreeParser(onBroken);
      },
    });
    expect(loads).toBe(0);
    await Promise.all([reader.read('ls'), reader.read('pwd')]);
    expect(loads).toBe(1);
  });

  test('a recently read line is cached', async () => {
    const reader = createCommandLineReader();
    const first = await reader.read('ls -la');
    expect(await reader.read('ls -la')).toBe(first);
    for (let index = 0; index < 20; index++) await reader.read(`ls ${index}`);
    expect(await reader.read('ls -la')).not.toBe(first);
  });

  test('the last 8 lines are cached, except those that are too long to be read', async () => {
    const reader = createCommandLineReader();
    const lines = Array.from({ length: 9 }, (_, index) => `ls ${index}`);
    const firsts = [];
    for (const line of lines) firsts.push(await reader.read(line));
    for (const [index, line] of lines.entries()) {
      if (index > 0) expect(await reader.read(line)).toBe(firsts[index]);
    }
    expect(await reader.read('ls 0')).not.toBe(firsts[0]);
    for (const [length, cached] of [
      [10_000, true],
      [10_001, false],
    ] as const) {
      const line = 'x'.repeat(length);
      const first = await reader.read(line);
      expect((await reader.read(line)) === first).toBe(cached);
    }
  });

  test('without a parser no line is plain and every line is unreadable', async () => {
    const logged: string[] = [];
    const reader = createCommandLineReader({
      log: createLogger('error', (line) => logged.push(line)),
      loadParser: () => Promise.reject(new Error('no such file')),
    });
    expect(await reader.read('ls; rm x')).toMatchObject({ plain: false, commands: [], unreadable: true });
    expect((await reader.read('rm x')).guarded).toEqual(['rm x']);
    expect(logged.filter((line) => line.includes('no such file'))).toHaveLength(1);
  });

  test('a line is opaque when reader and tree disagree on its names', async () => {
    const { parse } = await loadTreeParser(() => undefined);
    const reader = createCommandLineReader({ loadParser: async () => ({ parse: () => parse('echo a') }) });
    expect((await reader.read('echo b')).plain).toBe(true);
    expect((await reader.read('rm b')).plain).toBe(false);
    expect((await reader.read('echo a; echo b')).plain).toBe(false);
  });

  test('a line of 10,000 characters is read, a longer one is not', async () => {
    const reader = createCommandLineReader();
    const line = `echo '${'a b'.repeat(3_331)}'`;
    expect(await reader.read(line)).toMatchObject({ plain: true, commands: [line], unreadable: false });
    expect(line).toHaveLength(10_000);
    expect(await reader.read(`${line}a`)).toMatchObject({ plain: false, commands: [], unreadable: true });
    // Texts that are cheap to find are found nevertheless.
    expect((await reader.read(`${line}a; sudo rm -rf x`)).guarded).toContain('rm -rf x');
  });

  test('a line with a NUL is unreadable', async () => {
    expect(await createCommandLineReader().read('ls\0')).toMatchObject({ plain: false, unreadable: true });
  });

  test('random lines never throw, and a plain line hides no command from deny rules', async () => {
    const reader = createCommandLineReader();
    const nextLine = createLineGenerator(7);
    for (let count = 0; count < 1000; count++) {
      const line = nextLine();
      const { plain, commands, guarded } = await reader.read(line);
      expect(guarded[0]).toBe(line);
      if (plain) expect(guarded).toEqual(expect.arrayContaining(commands));
      else expect(commands).toEqual([]);
    }
  });
});

describe('the parser', () => {
  /** A parser whose results the test defines. */
  function scripted(parse: WasmParser['parse']) {
    let resets = 0;
    const broken: unknown[] = [];
    const parser = createTreeParser(
      { parse, reset: () => resets++ },
      { maxMs: 1, onBroken: (error) => broken.push(error) },
    );
    return { parser, broken, resets: () => resets };
  }

  test('is reset when a line takes too long, so that the next one is parsed from scratch', () => {
    let over: unknown;
    const { parser, resets } = scripted((_line, _old, options) => {
      const busyUntil = performance.now() + 200;
      while (performance.now() < busyUntil && over !== true) {
        over = options?.progressCallback?.({ currentOffset: 0, hasError: false });
      }
      return null;
    });
    expect(parser.parse('ls')).toBeUndefined();
    expect(over).toBe(true);
    expect(resets()).toBe(1);
  });

  test('is not used again after it threw', () => {
    let calls = 0;
    const { parser, broken } = scripted(() => {
      calls++;
      throw new Error('Aborted()');
    });
    const trees: (SyntaxTree | undefined)[] = [parser.parse('ls'), parser.parse('ls')];
    expect(trees).toEqual([undefined, undefined]);
    expect(calls).toBe(1);
    expect(broken).toHaveLength(1);
  });

  test('parses the next line after a timeout', async () => {
    const reader = createCommandLineReader();
    await reader.read('a=('.repeat(3_333));
    expect(await reader.read('git status')).toMatchObject({ plain: true, commands: ['git status'], unreadable: false });
  });
});
