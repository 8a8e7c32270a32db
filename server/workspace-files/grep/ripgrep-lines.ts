/** What the records of `rg --json` say. */
import { z } from 'zod';
import type { FoundLine } from './collect.ts';

/** Text, or base64 of what is no UTF-8. */
const textOrBytes = z.union([z.object({ text: z.string() }), z.object({ bytes: z.base64() })]);
type TextOrBytes = z.infer<typeof textOrBytes>;

const path = z.object({ path: textOrBytes });
const line = z.object({
  lines: textOrBytes,
  line_number: z.int().min(1),
  absolute_offset: z.int().min(0),
  submatches: z.array(z.object({ start: z.int().min(0) })),
});

const recordSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begin'), data: path }),
  z.object({ type: z.literal('match'), data: line }),
  z.object({ type: z.literal('context'), data: line }),
  z.object({ type: z.literal('end'), data: z.object({ binary_offset: z.int().nullable() }) }),
  z.object({ type: z.literal('summary'), data: z.object({ stats: z.object({ searches: z.int() }) }) }),
]);
export type RipgrepRecord = z.infer<typeof recordSchema>;

export const parseRecord = (record: Buffer): RipgrepRecord => recordSchema.parse(JSON.parse(record.toString()));

const bytesOf = (value: TextOrBytes): Buffer =>
  'text' in value ? Buffer.from(value.text) : Buffer.from(value.bytes, 'base64');

export const textOf = (value: TextOrBytes): string => ('text' in value ? value.text : bytesOf(value).toString());

/** Where the first match begins, in UTF-16 units from 1; undefined where it lies behind what is there of the line. */
function column(lines: TextOrBytes, start: number): number | undefined {
  // Most lines are ASCII alone, or at least what stands before the match.
  if ('text' in lines && start <= lines.text.length && Buffer.byteLength(lines.text) === lines.text.length)
    return start + 1;
  const bytes = bytesOf(lines);
  return start <= bytes.length ? bytes.toString('utf8', 0, start).length + 1 : undefined;
}

const withoutEnd = (text: string) => text.replace(/\r?\n$/, '');

export interface RipgrepLine extends FoundLine {
  /** Set where the column is not known: the line begins in the file there, and the match in the line. */
  bytesBefore?: { ofLine: number; inLine: number };
}

/** The line that a record tells of. */
export function lineOf(record: Extract<RipgrepRecord, { type: 'match' | 'context' }>): RipgrepLine {
  const { lines, line_number: number, absolute_offset: ofLine, submatches } = record.data;
  const text = withoutEnd(textOf(lines));
  if (record.type === 'context') return { number, text, col: undefined };
  const inLine = submatches[0]?.start ?? 0;
  const col = column(lines, inLine);
  if (col !== undefined) return { number, text, col };
  return { number, text, col: inLine + 1, bytesBefore: { ofLine, inLine } };
}
