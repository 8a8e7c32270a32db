/** Encloses a text in a code block of Markdown, whose fence is longer than any run of backticks in the text. */
export function fence(text: string, info = ''): string {
  let longest = 2;
  for (const [run] of text.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length);
  const marks = '`'.repeat(longest + 1);
  return `${marks}${info}\n${text.endsWith('\n') || text === '' ? text : `${text}\n`}${marks}`;
}
