/** The hits of a search, read from its result. */

export interface Hit {
  path: string;
  line: number | undefined;
  text: string;
}
export type HitsBody = { kind: 'hits'; hits: readonly Hit[] };

const isNote = (line: string) => line === '' || line.startsWith('[') || /^No (?:files|matches) found/.test(line);

/** Names of files, one in each line. */
export const foundFiles = (output: string): Hit[] =>
  output.split('\n').flatMap((path) => (isNote(path) ? [] : [{ path, line: undefined, text: '' }]));

/** Lines in the form `path:line:text`; others, such as their context, are omitted. */
export const foundLines = (output: string): Hit[] =>
  output.split('\n').flatMap((row) => {
    const [, path, line, text = ''] = /^([^:]+):(\d+):(.*)$/.exec(row) ?? [];
    return path === undefined ? [] : [{ path, line: Number(line), text }];
  });
