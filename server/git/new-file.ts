/**
 * A whole file as an addition, in the words of `git diff`. It is read here and not by git, which would open a path
 * again, and would ask the attributes of the project what to do with its content.
 */
import { StringDecoder } from 'node:string_decoder';
import { cutBytes } from '#server/bounded-text.ts';
import { DIFF_MAX_BYTES, type Diff } from './diff.ts';

/** As many bytes as git looks at. */
const BINARY_SAMPLE_BYTES = 8000;
const CHUNK_BYTES = 64 * 1024;

export interface NewFile {
  /** Below the top of the work tree. */
  path: string;
  mode: '100644' | '100755' | '120000';
  /** Not looked into. */
  tooLarge?: boolean;
  /** The next bytes, at most so many; none at the end. */
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

/** As git writes names in headers: quoted where a reader of lines would stumble. */
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
    // The marker of a line that follows is written when it does.
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
  // A name with a space is told from a time behind it by the tab.
  const whole = `${head}--- /dev/null\n+++ ${name}${path.includes(' ') ? '\t' : ''}\n@@ -0,0 +1${count === 1 ? '' : `,${count}`} @@\n${kept}${end}`;
  const text = cutBytes(whole, DIFF_MAX_BYTES);
  return { text, truncated: text.length < whole.length };
}
