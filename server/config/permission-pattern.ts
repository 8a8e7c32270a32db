/** The text form of permission rules: `Tool`, `Tool(args)`, `Tool(!args)`. */
import { errorMessage } from '#server/errors/service-error.ts';
import { pathGlob, textGlob } from '#server/files/globs.ts';
import type { Matcher } from '#server/files/globs.ts';

export interface Pattern {
  /** The original text. */
  text: string;
  matchesTool: Matcher;
  /** Pattern for the tool's subject, without `!`; absent for a bare tool name. */
  args: string | undefined;
  negated: boolean;
}

/** Parses a rule's pattern. Throws an Error that describes the problem; configuration validation uses it too. */
export function parsePattern(text: string): Pattern {
  const found = /^([^\s()!\\/]+)(?:\(([\s\S]*)\))?$/.exec(text.trim());
  const tool = found?.[1];
  if (!tool) throw new Error(`invalid permission pattern ${JSON.stringify(text)}: expected Tool or Tool(args)`);
  const written = found[2] || undefined;
  const negated = written?.startsWith('!') ?? false;
  const args = negated ? written?.slice(1) : written;
  if (negated && !args) throw new Error(`invalid permission pattern ${JSON.stringify(text)}: nothing after "!"`);
  try {
    if (args !== undefined) {
      // Both dialects are checked, because the called tool decides which one applies.
      textGlob(args);
      pathGlob(args);
    }
    return { text, matchesTool: textGlob(tool), args, negated };
  } catch (error) {
    throw new Error(`invalid permission pattern ${JSON.stringify(text)}: ${errorMessage(error)}`, { cause: error });
  }
}
