/**
 * Fuzz target: a path is the same request with and without the base path, and a path that does not begin with it is
 * parsed as if there were none.
 */
import { deepStrictEqual } from 'node:assert/strict';
import endpoints from '#endpoints';
import { parseBasePath } from '#server/cli/base-path-option.ts';
import { integer, pick, type Random } from '#support/random.ts';
import { randomRequest } from '#support/random-targets.ts';
import { parseRequestTarget } from '#utils/http/request-target.ts';
import { publicPath } from '#utils/http/route-table.ts';

const routes = endpoints.map(({ route }) => publicPath(route));
const PIECES = [
  'code',
  'a',
  'Z9',
  '.x',
  '..',
  '.',
  '~',
  '-',
  '_',
  'api',
  'assets',
  'sessions',
  '%',
  'é',
  ' ',
  '?',
  '/',
];
const VALID = /^(?:\/[A-Za-z0-9._~-]+)+$/;
const RESERVED = /^\/(?:api|assets|sessions|documentation|openapi\.json|asyncapi\.json)(?:\/|$)/;

function parsedBase(text: string): string | undefined {
  try {
    return parseBasePath(text);
  } catch {
    return undefined;
  }
}

function randomBase(random: Random): string {
  const segment = () => Array.from({ length: 1 + integer(random, 2) }, () => pick(random, PIECES)).join('');
  const path = Array.from({ length: 1 + integer(random, 3) }, () => `/${segment()}`).join('');
  const isValid = (text: string) => VALID.test(text) && !RESERVED.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);
  for (const spelling of [path, `${path}/`]) {
    const bare = spelling.replace(/\/$/, '');
    deepStrictEqual(parsedBase(spelling), bare === '' ? '' : isValid(bare) ? bare : undefined, spelling);
  }
  return isValid(path) ? path : '/code';
}

/** One case. Throws when the base path changes what a request means. */
export function basePaths(random: Random): void {
  const base = randomBase(random);
  const { target } = randomRequest(random, routes);
  const bare = parseRequestTarget(target);
  if (target.startsWith('/')) {
    const prefixed = parseRequestTarget(base + target, base);
    deepStrictEqual(prefixed, bare && { ...bare, removed: base }, base + target);
  }
  const parsed = parseRequestTarget(target, base);
  const isBelow = bare?.raw.startsWith(`${base}/`) ?? false;
  const isBase = bare?.raw === base;
  if (!isBelow && !isBase) deepStrictEqual(parsed, bare, target);
  // Another spelling of the base path is another path.
  const at = 1 + integer(random, base.length - 1);
  const code = `%${base.charCodeAt(at).toString(16)}`;
  const encoded = `${base.slice(0, at)}${base.charAt(at) === '/' ? '%2F' : code}${base.slice(at + 1)}/x`;
  deepStrictEqual(parseRequestTarget(encoded, base), parseRequestTarget(encoded), encoded);
  const longer = `${base}x/y`;
  deepStrictEqual(parseRequestTarget(longer, base), parseRequestTarget(longer), longer);
}
