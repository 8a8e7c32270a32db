/** Describes why a text is not JSON without quoting it, since it may contain a secret. */
import { JsonTooDeep } from './json.ts';

/** The reason of an error of `parseJson`, with the position where the parser names one. */
export function jsonErrorReason(error: unknown, text: string): string {
  if (error instanceof JsonTooDeep) return 'the text is nested too deeply';
  const position = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
  if (position === undefined) return 'the text is not valid JSON';
  const lines = text.slice(0, Number(position)).split('\n');
  return `syntax error at line ${lines.length}, column ${(lines.at(-1)?.length ?? 0) + 1}`;
}
