/** Streaming line scanner: selects a window of lines in bounded memory and detects the line endings. */

export interface ScannedLine {
  number: number;
  /** At most `maxChars` characters, without the LF but with a CR before it. */
  text: string;
  /** True if the line was longer than `text`. */
  cut: boolean;
}

export interface LineScan {
  total: number;
  lines: ScannedLine[];
  /** `crlf` if every line ends with CRLF; `mixed` if a CR occurs elsewhere or some lines end with a bare LF. */
  endings: 'lf' | 'crlf' | 'mixed';
}

export interface LineScanner {
  write(text: string): void;
  end(): LineScan;
}

/** `start` > 0: `count` lines from that 1-based line; `start` < 0: the first `count` of the last `-start` lines. */
export function createLineScanner(window: { start: number; count: number; maxChars: number }): LineScanner {
  const { start, count, maxChars } = window;
  const tail = Math.max(0, -start);
  const kept: ScannedLine[] = [];
  let total = 0;
  let bareLf = 0;
  let crlf = 0;
  let loneCr = false;
  let head = '';
  let length = 0;
  let endsWithCr = false;

  function extend(text: string): void {
    if (!text) return;
    if (endsWithCr) loneCr = true;
    const cr = text.indexOf('\r');
    if (cr !== -1 && cr < text.length - 1) loneCr = true;
    endsWithCr = text.endsWith('\r');
    length += text.length;
    if (head.length < maxChars) head += text.slice(0, maxChars - head.length);
  }

  function closeLine(): void {
    total++;
    const line = { number: total, text: head, cut: length > head.length };
    if (tail > 0) kept[(total - 1) % tail] = line;
    else if (total >= start && kept.length < count) kept.push(line);
    head = '';
    length = 0;
    endsWithCr = false;
  }

  return {
    write(text) {
      let from = 0;
      for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', from)) {
        extend(text.slice(from, end));
        if (endsWithCr) crlf++;
        else bareLf++;
        closeLine();
        from = end + 1;
      }
      extend(text.slice(from));
    },
    end() {
      if (length > 0) {
        if (endsWithCr) loneCr = true;
        closeLine();
      }
      const lines = tail > 0 ? kept.sort((a, b) => a.number - b.number).slice(0, count) : kept;
      const mixed = loneCr || (crlf > 0 && bareLf > 0);
      return { total, lines, endings: mixed ? 'mixed' : crlf > 0 ? 'crlf' : 'lf' };
    },
  };
}
