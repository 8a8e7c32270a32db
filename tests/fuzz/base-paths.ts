/**
 * Fuzz target: a path is the same request with and without the base path, and a path that does not begin with it is
 * parsed as if there were none.
 */
import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import endpoints from '#endpoints';
import { parseBasePath } from '#server/cli/base-path-option.ts';
import { textsOf } from '#support/arbitraries.ts';
import { requestsTo } from '#support/random-targets.ts';
import { parseRequestTarget } from '#utils/http/request-target.ts';
import { publicPath } from '#utils/http/route-table.ts';

const VALID_PIECES = ['code', 'a', 'Z9', '.x', '..', '.', '~', '-', '_', 'api', 'assets', 'sessions'];
const PIECES = [...VALID_PIECES, '%', 'é', ' ', '?', '/'];
const VALID = /^(?:\/[A-Za-z0-9._~-]+)+$/;
const RESERVED = /^\/(?:api|assets|sessions|documentation|openapi\.json|asyncapi\.json)(?:\/|$)/;
const isValid = (text: string) => VALID.test(text) && !RESERVED.test(text) && !/\/\.{1,2}(?:\/|$)/.test(text);

const pathsOf = (pieces: readonly string[]) =>
  fc
    .array(textsOf(pieces, 2, 1), { minLength: 1, maxLength: 3 })
    .map((segments) => segments.map((segment) => `/${segment}`).join(''));

function parsedBase(text: string): string | undefined {
  try {
    return parseBasePath(text);
  } catch {
    return undefined;
  }
}

const cases = fc.record({
  /** A value of the option, valid or not. */
  option: pathsOf(PIECES),
  base: pathsOf(VALID_PIECES).filter(isValid),
  target: requestsTo(endpoints.map(({ route }) => publicPath(route))).map(({ target }) => target),
  encoded: fc.nat(),
});

/** Fails when the base path changes what a request means. */
export const basePaths = fc.property(cases, ({ option, base, target, encoded }) => {
  for (const spelling of [option, `${option}/`]) {
    const path = spelling.replace(/\/$/, '');
    deepStrictEqual(parsedBase(spelling), path === '' || isValid(path) ? path : undefined, spelling);
  }

  const bare = parseRequestTarget(target);
  if (target.startsWith('/')) {
    const prefixed = parseRequestTarget(base + target, base);
    deepStrictEqual(prefixed, bare && { ...bare, removed: base }, base + target);
  }
  const isBelow = bare?.raw.startsWith(`${base}/`) ?? false;
  const isBase = bare?.raw === base;
  if (!isBelow && !isBase) deepStrictEqual(parseRequestTarget(target, base), bare);
  // Another spelling of the base path is another path.
  const at = 1 + (encoded % (base.length - 1));
  const code = `%${base.charCodeAt(at).toString(16)}`;
  for (const other of [`${base.slice(0, at)}${code}${base.slice(at + 1)}/x`, `${base}x/y`])
    deepStrictEqual(parseRequestTarget(other, base), parseRequestTarget(other), other);
});
