/**
 * Fuzz target: a request target is parsed to the segments and the query that it was built from, and without a token
 * none reaches an endpoint except the public one.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import * as fc from 'fast-check';
import endpoints from '#endpoints';
import { createGuard } from '#server/auth/guard.ts';
import { textsOf } from '#support/arbitraries.ts';
import { requestsTo } from '#support/random-targets.ts';
import { parseRequestTarget } from '#utils/http/request-target.ts';
import { createRouteTable, publicPath } from '#utils/http/route-table.ts';

const table = createRouteTable(endpoints);
const guard = createGuard({
  ban: undefined,
  hostAllowed: () => true,
  listedOrigins: new Set(),
  credentials: { accepts: async () => false },
});

const PIECES = ['a', 'api', 'v1', '..', '.', '%', '/', '?', '#', '*', ':', ' ', 'é', '😀', '\\', '&', '\0', 'x:y'];
const AUTHORITIES = ['', '', 'http://h', 'HTTPS://h:1', 'http://u:p@h', 'http://', 'https://[::1]:80'];
/** Characters that a segment may contain unencoded. */
const PLAIN = /^[a-z0-9.*:\\&]$/;

interface Segment {
  decoded: string;
  spelling: string;
}

/** Pieces of a segment; the bits of `mask` are the unencoded characters that are encoded nevertheless. */
const pieces = fc
  .record({ piece: fc.constantFrom(...PIECES), mask: fc.nat(7), isUpperCase: fc.boolean() })
  .map(({ piece, mask, isUpperCase }): Segment => {
    const spell = (character: string, index: number) => {
      if (PLAIN.test(character) && (mask & (1 << index)) === 0) return character;
      const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
      return isUpperCase ? bytes.toUpperCase() : bytes;
    };
    return { decoded: piece, spelling: [...piece].map(spell).join('') };
  });

const built = fc.record({
  authority: fc.constantFrom(...AUTHORITIES),
  segments: fc.array(
    fc.array(pieces, { maxLength: 3 }).map((list): Segment => ({
      decoded: list.map(({ decoded }) => decoded).join(''),
      spelling: list.map(({ spelling }) => spelling).join(''),
    })),
    { minLength: 1, maxLength: 4 },
  ),
  query: fc.option(textsOf(PIECES, 5), { nil: undefined, freq: 2 }),
});

const requests = requestsTo(endpoints.map(({ route }) => publicPath(route)));

async function needsTheToken(method: string, target: string): Promise<void> {
  const parsed = parseRequestTarget(target);
  const match = parsed && table.match(method, parsed.segments);
  const { outcome } = await guard.request({
    method,
    target: parsed,
    isServed: match !== undefined,
    host: 'localhost',
    scheme: 'http',
    origin: undefined,
    fetchSite: undefined,
    authorization: undefined,
    requestedHeaders: undefined,
    remoteAddress: undefined,
  });
  ok(outcome !== 'pass', 'passes without a token');
  const isHealthCheck = method === 'GET' && parsed?.segments.join('|') === 'api|v1|healthz';
  ok(outcome !== 'health' || isHealthCheck, 'is no health check');
  if (method === 'OPTIONS' || isHealthCheck || outcome === 'refused') return;
  ok(!match, 'needs no token');
  // The path that a proxy or browser would send to the API, with its dot segments resolved.
  const seen = parsed && URL.canParse(`http://h${parsed.raw}`) ? new URL(`http://h${parsed.raw}`).pathname : '';
  ok(parsed?.raw !== seen || !seen.startsWith('/api/'), 'is below /api/ and needs no token');
}

/** Fails when a target is parsed incorrectly, or reaches an endpoint without a token. */
export const requestTarget = fc.asyncProperty(
  built,
  requests,
  async ({ authority, segments, query }, { method, target }) => {
    const raw = segments.map(({ spelling }) => `/${spelling}`).join('');
    const decoded = segments.map(({ decoded }) => decoded);
    const whole = authority + raw + (query === undefined ? '' : `?${query}`);
    deepStrictEqual(
      parseRequestTarget(whole),
      { raw, decoded: `/${decoded.join('/')}`, segments: decoded, query: query ?? '' },
      whole,
    );
    for (const broken of [whole.slice(authority.length + 1), `*${whole}`, `ftp://h${raw}`, `${authority}/%zz`]) {
      if (/^(\/|https?:\/\/)/i.test(broken) && !broken.includes('%zz')) continue;
      deepStrictEqual(parseRequestTarget(broken), undefined, broken);
    }
    await needsTheToken(method, target);
  },
);
