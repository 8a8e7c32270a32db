/**
 * Fuzz target: the name of a `Host` built from a name and a port is parsed correctly; a damaged host that is allowed is
 * the same host to a browser.
 */
import { deepStrictEqual, ok } from 'node:assert/strict';
import { isIP } from 'node:net';
import * as fc from 'fast-check';
import { createHostCheck, parseHost } from '#server/auth/hosts.ts';
import { edited, textEdits } from '#support/arbitraries.ts';

const LABELS = ['a', 'corp', 'test', 'localhost', 'evil', 'x-y', 'n_1', '127', '0x7f', '1', 'xn--e1afmkfd'];
const NAMES = [
  'x.corp.test',
  'corp.test',
  'notcorp.test',
  'corp.test.evil',
  'x.corp.test.evil',
  'a.test.evil',
  'x.a.test',
];
const ADDRESSES = ['127.0.0.1', '10.1.1.1', '0.0.0.0', '::1', 'fe80::1', '::ffff:127.0.0.1', '2001:db8::5:6'];
const DAMAGE = ['@', '/', '\\', '?', '#', ' ', '\t', ',', '%', '%00', ':', ':x', '[', ']', '\0', 'é', '。', '..', '-'];

/** A name or an address and a port; an IPv6 address may have a zone (`%eth0`), and needs no brackets without a port. */
const WELL_FORMED = /^(?:(?:[\w.-]+|\[[\da-f:.]+(?:%[\w.:-]+)?\])(?::\d+)?|[\da-f:.]+(?:%[\w.:-]+)?)$/i;
export const isWellFormed = (text: string): boolean => WELL_FORMED.test(text.trim());

export interface Host {
  text: string;
  /** Lower case, IPv6 without brackets. */
  name: string;
  port: string;
}

const labels = fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 3 }).map((list) => list.join('.'));

/** Well-formed hosts in any spelling. */
export const wellFormedHosts = fc
  .record({
    name: fc.oneof(
      { weight: 5, arbitrary: labels },
      { weight: 3, arbitrary: fc.constantFrom(...ADDRESSES) },
      { weight: 2, arbitrary: fc.constantFrom(...NAMES) },
    ),
    port: fc.option(fc.nat(65_535).map(String), { nil: '', freq: 2 }),
    isUpperCase: fc.boolean(),
  })
  .map(({ name, port, isUpperCase }): Host => {
    const cased = isUpperCase ? name.toUpperCase() : name;
    const host = isIP(name) === 6 ? `[${cased}]` : cased;
    return { text: port === '' ? host : `${host}:${port}`, name, port };
  });

/** Hosts with characters that no host contains. */
export const damagedHosts = edited(
  wellFormedHosts.map(({ text }) => text),
  textEdits(DAMAGE),
);

const BIND = 'dev.corp.test';
const ALLOWED = ['a.test', '.corp.test'];
const check = createHostCheck({ bindHost: BIND, allowedHosts: ALLOWED });

const isAllowed = (name: string): boolean =>
  isIP(name) !== 0 ||
  name === 'localhost' ||
  name.endsWith('.localhost') ||
  name === 'a.test' ||
  name === 'corp.test' ||
  name.endsWith('.corp.test');

const withoutDot = (name: string) => name.replace(/\.$/, '');

/** Fails when the parsed name is wrong, or a foreign one is allowed. */
export const hosts = fc.property(wellFormedHosts, damagedHosts, ({ text, name }, damaged) => {
  deepStrictEqual(parseHost(text), name);
  deepStrictEqual(check(text), isAllowed(name));

  if (!check(damaged)) return;
  ok(isWellFormed(damaged), 'a malformed host is allowed');
  const read = parseHost(damaged) ?? '';
  ok(isAllowed(withoutDot(read)), `${read} is allowed`);
  if (!URL.canParse(`http://${damaged.trim()}`)) return;
  const { hostname } = new URL(`http://${damaged.trim()}`);
  const seen = withoutDot(hostname.replaceAll(/[[\]]/g, ''));
  // An address has several spellings.
  if (isIP(seen) === 0) deepStrictEqual(withoutDot(read), seen, 'a browser reads another host');
});
