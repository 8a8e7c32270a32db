/** Recalls prompts of the workspace, newest first, source by source: the open session, then the others. */

export interface Recall {
  /** The next older prompt; undefined if there is none. Calls are sequential: one that arrives meanwhile is ignored. */
  older(): Promise<string | undefined>;
  /** The next newer prompt; empty after the newest. */
  newer(): string;
  /** The recalled prompt; undefined while none is. */
  current(): string | undefined;
  /** Starts over at the newest prompt, and reads the sources again. Ignored while a source is read. */
  reset(): void;
}

/** Each of `sources` reads prompts, newest first, when all earlier ones are used up. Its rejection is an empty list. */
export function createRecall(sources: () => readonly (() => Promise<readonly string[]>)[]): Recall {
  let prompts: string[] = [];
  let left: (() => Promise<readonly string[]>)[] | undefined;
  let at = -1;
  let isReading = false;

  /** Reads sources until there is a prompt at the index. */
  async function read(index: number): Promise<void> {
    left ??= [...sources()];
    while (prompts[index] === undefined) {
      const source = left.shift();
      if (!source) return;
      const found = await source().catch(() => []);
      const known = new Set(prompts);
      for (const prompt of found) {
        if (prompt.trim() === '' || known.has(prompt)) continue;
        known.add(prompt);
        prompts.push(prompt);
      }
    }
  }

  return {
    async older() {
      if (isReading) return undefined;
      isReading = true;
      await read(at + 1);
      isReading = false;
      const prompt = prompts[at + 1];
      if (prompt !== undefined) at += 1;
      return prompt;
    },
    newer() {
      at = Math.max(-1, at - 1);
      return prompts[at] ?? '';
    },
    current: () => prompts[at],
    reset() {
      if (isReading) return;
      [prompts, left, at] = [[], undefined, -1];
    },
  };
}
