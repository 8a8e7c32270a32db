/**
 * Fuzz target: a request target is parsed to the segments and the query that it was built from, and without a token
 * none reaches an endpoint except the public one.
 */
import { deepStrictEqual } from 'node:assert/strict';
import endpoints from '#endpoints';
import { createGuard } from '#server/auth/guard.ts';
import { integer, pick, type Random } from '#support/random.ts';
import { randomRequest } from '#support/random-targets.ts';
import { parseRequestTarget } from '#utils/http/request-target.ts';
import { createRouteTable, publicPath } from '#utils/http/route-table.ts';

const table = createRouteTable(endpoints);
const routes = endpoints.map(({ route }) => publicPath(route));
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

const randomText = (random: Random, most: number) =>
  Array.from({ length: integer(random, most) }, () => pick(random, PIECES)).join('');

/** A random spelling of a segment: unencoded characters may also be encoded. */
function spelled(random: Random, segment: string): string {
  const spell = (character: string) => {
    if (PLAIN.test(character) && random() < 0.8) return character;
    const bytes = [...Buffer.from(character)].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
    return random() < 0.5 ? bytes : bytes.toUpperCase();
  };
  return [...segment].map(spell).join('');
}

function parsesWhatWasBuilt(random: Random): void {
  const authority = pick(random, AUTHORITIES);
  const segments = Array.from({ length: 1 + integer(random, 4) }, () => randomText(random, 4));
  const raw = `/${segments.map((segment) => spelled(random, segment)).join('/')}`;
  const query = random() < 0.5 ? undefined : randomText(random, 6);
  const target = authority + raw + (query === undefined ? '' : `?${query}`);
  deepStrictEqual(
    parseRequestTarget(target),
    { raw, decoded: `/${segments.join('/')}`, segments, query: query ?? '' },
    target,
  );
  for (const broken of [target.slice(authority.length + 1), `*${target}`, `ftp://h${raw}`, `${authority}/%zz`]) {
    if (/^(\/|https?:\/\/)/i.test(broken) && !broken.includes('%zz')) continue;
    deepStrictEqual(parseRequestTarget(broken), undefined, broken);
  }
}

async function needsTheToken(random: Random): Promise<void> {
  const { method, target } = randomRequest(random, routes);
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
  if (outcome === 'pass') throw new Error(`${method} ${target} passes without a token`);
  const isHealthCheck = method === 'GET' && parsed?.segments.join('|') === 'api|v1|healthz';
  if (outcome === 'health' && !isHealthCheck) throw new Error(`${method} ${target} is no health check`);
  const isOpen = method === 'OPTIONS' || isHealthCheck;
  if (match && !isOpen && outcome !== 'refused') throw new Error(`${method} ${target} needs no token`);
  // The path that a proxy or browser would send to the API, with its dot segments resolved.
  const seen = parsed && URL.canParse(`http://h${parsed.raw}`) ? new URL(`http://h${parsed.raw}`).pathname : '';
  if (parsed?.raw === seen && seen.startsWith('/api/') && !isOpen && outcome !== 'refused') {
    throw new Error(`${method} ${target} is below /api/ and needs no token`);
  }
}

/** One case. Throws when a target is parsed incorrectly, or reaches an endpoint without a token. */
export async function requestTarget(random: Random): Promise<void> {
  parsesWhatWasBuilt(random);
  await needsTheToken(random);
}
