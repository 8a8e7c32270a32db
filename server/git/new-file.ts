/**
 * A whole file as an addition, in the format of `git diff`. It is read here and not by git, which would open the path
 * again and apply the project's attributes to its content.
 */
import { StringDecoder } from 'node:string_decoder';
import { cutBytes } from '#server/text/truncate.ts';
import { DIFF_MAX_BYTES, type Diff } from './diff.ts';

/** The number of bytes that git checks for NUL. */
const BINARY_SAMPLE_BYTES = 8000;
const CHUNK_BYTES = 64 * 1024;

export interface NewFile {
  /** Relative to the top of the work tree. */
  path: string;
  mode: '100644' | '100755' | '120000';
  /** Whether the file is too large to be read; it is reported as binary. */
  tooLarge?: boolean;
  /** Returns the next bytes, at most `maxBytes`; empty at the end. */
  read(maxBytes: number): Promise<Uint8Array>;
}

const ESCAPES: Record<string, string> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\t': '\\t',
  '\n': '\\n',
  '\v': '\\v',
  '\f': '\\f',
  '\r': '\\r',
  '"': '\\"',
  '\\': '\\\\',
};
const octal = (char: string) => `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`;

/** Quotes a name as git does in headers: only if it contains special characters. */
function quoted(name: string): string {
  // eslint-disable-next-line no-control-regex
  const special = /["\\\x00-\x1f\x7f]/g;
  if (!special.test(name)) return name;
  return `"${name.replace(special, (char) => ESCAPES[char] ?? octal(char))}"`;
}

/** Throws the signal's reason. */
export async function diffNewFile({ path, mode, read, tooLarge = false }: NewFile, signal: AbortSignal): Promise<Diff> {
  const name = quoted(`b/${path}`);
  const head = `diff --git ${quoted(`a/${path}`)} ${name}\nnew file mode ${mode}\n`;
  const binary = { text: `${head}Binary files /dev/null and ${name} differ\n`, truncated: false };
  if (tooLarge) return binary;
  const decoder = new StringDecoder('utf8');
  let kept = '';
  let lines = 0;
  let atLineStart = true;
  let seen = 0;

  const add = (text: string) => {
    if (text === '') return;
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
    // The `+` of a following line is written when that line arrives.
    if (kept.length <= DIFF_MAX_BYTES) kept += (atLineStart ? '+' : '') + text.replace(/\n(?!$)/g, '\n+');
    atLineStart = text.endsWith('\n');
  };

  for (;;) {
    signal.throwIfAborted();
    const chunk = Buffer.from(await read(CHUNK_BYTES));
    if (chunk.length === 0) break;
    if (seen < BINARY_SAMPLE_BYTES && chunk.subarray(0, BINARY_SAMPLE_BYTES - seen).includes(0)) {
      return binary;
    }
    seen += chunk.length;
    add(decoder.write(chunk));
  }
  add(decoder.end());
  if (seen === 0) return { text: head, truncated: false };
  const count = lines + (atLineStart ? 0 : 1);
  const end = atLineStart ? '' : '\n\\ No newline at end of file\n';
  // The tab after a name with a space separates it from a timestamp.
  const whole = `${head}--- /dev/null\n+++ ${name}${path.includes(' ') ? '\t' : ''}\n@@ -0,0 +1${count === 1 ? '' : `,${count}`} @@\n${kept}${end}`;
  const text = cutBytes(whole, DIFF_MAX_BYTES);
  return { text, truncated: text.length < whole.length };
}
