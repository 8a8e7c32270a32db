/** Places in files, as agents name them: `src/main.ts:12`. */

export interface FilePlace {
  path: string;
  line: number | undefined;
}

const PLACE = String.raw`(?:[\w@.+~-]*/)*[\w@.+~-]*\.?[\w+-]+:\d{1,7}(?::\d{1,7})?`;
/** In prose a directory is required: `example.com:443` is a host. */
export const PLACE_IN_PROSE = new RegExp(
  String.raw`(?<![\w/:.@~-])(?:\.{0,2}/)?(?:[\w@.+~-]+/)+[\w@.+~-]*\w:\d{1,7}(?::\d{1,7})?(?![\w:/])`,
  'g',
);
const WHOLE = new RegExp(`^${PLACE}$`);

/** The place that a whole text names; it must have a line. */
export function placeIn(text: string): FilePlace | undefined {
  if (!WHOLE.test(text) || !/[./]/.test(text)) return undefined;
  const [path = '', line = ''] = text.split(':');
  return /^[\d.]*$/.test(path) ? undefined : { path, line: Number(line) };
}

/** The place that the target of a link names: a path without a scheme, `a.ts:12` or `a.ts#L12`. */
export function placeInTarget(href: string): FilePlace | undefined {
  const [, path = '', line] =
    /^(?!\/\/|[a-z][a-z\d+.-]*:\/|mailto:|data:|javascript:)([^#?\s]+?)(?:(?:#L|:)(\d{1,7})(?:[-:].*)?)?$/i.exec(
      href,
    ) ?? [];
  if (path === '' || path.includes(':')) return undefined;
  return { path: decoded(path), line: line === undefined ? undefined : Number(line) };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
