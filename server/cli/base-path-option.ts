/** `--base-path`: the path of the server in a browser, if a proxy in between serves others as well. */
import { StartError } from '#server/errors/start-error.ts';

const SEGMENT = /^[A-Za-z0-9._~-]+$/;
/** First segments of the server's own paths: below one of them a path could be read in two ways. */
const RESERVED = new Set(['api', 'assets', 'sessions', 'documentation', 'openapi.json', 'asyncapi.json']);

/** Returns the path without a final slash, empty if the server is the root of its origin. Throws `StartError`. */
export function parseBasePath(text: string): string {
  const invalid = (reason: string) => new StartError(`invalid base path '${text}': ${reason}`);
  if (!text.startsWith('/')) throw invalid('it must begin with a slash');
  const path = text.replace(/\/$/, '');
  if (path === '') return '';
  const segments = path.slice(1).split('/');
  for (const segment of segments) {
    if (segment === '.' || segment === '..') throw invalid(`'${segment}' is no segment of it`);
    if (!SEGMENT.test(segment)) throw invalid('expected segments of letters, digits and . _ ~ -');
  }
  const [first = ''] = segments;
  if (RESERVED.has(first)) throw invalid(`'/${first}' is a path of the server`);
  return path;
}
