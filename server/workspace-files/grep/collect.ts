/** Builds matches incrementally from lines, file by file, within the limits of one request. */
import type { GrepFile, GrepMatch, GrepRequest } from '#schema/rest/grep.ts';
import { cutBytes } from '#server/text/truncate.ts';

/** A longer line is truncated. */
export const LINE_MAX_BYTES = 64 * 1024;
/** Limit of all texts of a reply together, in UTF-8. */
export const REPLY_MAX_BYTES = 32 * 1024 * 1024;

export type GrepLimits = Pick<
  GrepRequest,
  'context_lines' | 'max_files' | 'max_matches_per_file' | 'max_total_matches'
>;

export interface FoundLine {
  number: number;
  /** The line without its line end; a line above the limit has at least one byte more than the limit. */
  text: string;
  /** Column of the first match, in UTF-16 units from 1; undefined for a line of context. */
  col: number | undefined;
}

export interface Collector {
  /** Starts a file. */
  begin(path: string): void;
  /** Adds a line of the file, in ascending order. */
  line(line: FoundLine): void;
  /** Finishes the file; without `keep` its matches are discarded. */
  end(keep: boolean): void;
  /** Whether a limit is reached: later lines do not change the result. */
  readonly full: boolean;
  /** Returns the matches of finished files, in the order in which the files arrived. */
  result(): { files: GrepFile[]; truncated: boolean };
}

interface KeptLine {
  number: number;
  text: string;
  bytes: number;
  cut: boolean;
}

interface OpenFile {
  path: string;
  lines: KeptLine[];
  /** Matches by their index in `lines`. */
  matches: { place: number; col: number }[];
  bytes: number;
  dropped: boolean;
  /** Whether the reply's limit is exhausted: no more lines are stored, and the last matches may lack context. */
  broken: boolean;
}

export function createCollector(limits: GrepLimits): Collector {
  const { context_lines: context, max_files, max_matches_per_file, max_total_matches } = limits;
  const files: GrepFile[] = [];
  let total = 0;
  let bytesLeft = REPLY_MAX_BYTES;
  let truncated = false;
  let full = false;
  let file: OpenFile | undefined;

  function keep(open: OpenFile, { number, text }: FoundLine): void {
    const shown = cutBytes(text, LINE_MAX_BYTES);
    const bytes = Buffer.byteLength(shown);
    open.bytes += bytes;
    // Every stored line is returned at least once, so its bytes count once here.
    if (open.bytes > bytesLeft) open.broken = true;
    else open.lines.push({ number, text: shown, bytes, cut: shown.length < text.length });
  }

  /** Returns the range (`to` exclusive) of consecutive lines within the context around an index. */
  function around(lines: readonly KeptLine[], place: number): { from: number; to: number } {
    const distance = (at: number) => Math.abs((lines[at]?.number ?? Infinity) - (lines[place]?.number ?? 0));
    let from = place;
    while (distance(from - 1) <= context) from--;
    let to = place + 1;
    while (distance(to) <= context) to++;
    return { from, to };
  }

  function assemble({ path, lines, matches, broken }: OpenFile): GrepFile | undefined {
    const shown: GrepMatch[] = [];
    const last = lines.at(-1)?.number ?? 0;
    for (const { place, col } of matches) {
      const line = lines[place];
      if (!line) break;
      const { from, to } = around(lines, place);
      const texts: string[] = [];
      let bytes = 0;
      let cut = false;
      for (const each of lines.slice(from, to)) {
        texts.push(each.text);
        bytes += each.bytes;
        cut ||= each.cut;
      }
      if (bytes > bytesLeft || (broken && line.number + context > last)) {
        truncated = true;
        full = true;
        break;
      }
      bytesLeft -= bytes;
      truncated ||= cut;
      const before = texts.slice(0, place - from);
      shown.push({ line: line.number, col, text: line.text, before, after: texts.slice(before.length + 1) });
    }
    return shown.length > 0 ? { path, matches: shown } : undefined;
  }

  return {
    begin(path) {
      file = { path, lines: [], matches: [], bytes: 0, dropped: false, broken: false };
    },
    line(line) {
      if (!file || file.broken) return;
      const isMatch = line.col !== undefined;
      const room = file.matches.length < max_matches_per_file && total + file.matches.length < max_total_matches;
      if (isMatch && !room) file.dropped = true;
      const lastMatch = file.lines[file.matches.at(-1)?.place ?? -1]?.number ?? 0;
      // After the last accepted match only its context is stored.
      if (!room && line.number > lastMatch + context) return;
      keep(file, line);
      if (line.col !== undefined && room && !file.broken) {
        file.matches.push({ place: file.lines.length - 1, col: line.col });
      }
    },
    end(kept) {
      const ended = file;
      file = undefined;
      if (!ended || !kept || full) return;
      if (ended.matches.length > 0 && files.length === max_files) {
        truncated = true;
        full = true;
        return;
      }
      const found = assemble(ended);
      if (found) {
        files.push(found);
        total += found.matches.length;
      }
      if (ended.dropped) {
        truncated = true;
        if (total >= max_total_matches) full = true;
      }
      if (ended.broken) {
        truncated = true;
        full = true;
      }
    },
    get full() {
      return full;
    },
    result: () => ({ files, truncated }),
  };
}
