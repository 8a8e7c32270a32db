/**
 * Fuzz target: the name of a `Host` built from a name and a port is parsed correctly; a damaged host that is allowed is
 * the same host to a browser.
 */
import { deepStrictEqual } from 'node:assert/strict';
import { isIP } from 'node:net';
import { createHostCheck, parseHost } from '#server/auth/hosts.ts';
import { integer, pick, type Random } from '#support/random.ts';

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

export interface RandomHost {
  text: string;
  /** Lower case, IPv6 without brackets. */
  name: string;
  port: string;
}

/** A well-formed host in a random spelling. */
export function randomHost(random: Random): RandomHost {
  const kind = random();
  const labels = () => Array.from({ length: 1 + integer(random, 3) }, () => pick(random, LABELS)).join('.');
  const name = kind < 0.3 ? pick(random, ADDRESSES) : kind < 0.5 ? pick(random, NAMES) : labels();
  const port = random() < 0.5 ? '' : String(integer(random, 65_536));
  const cased = random() < 0.3 ? name.toUpperCase() : name;
  const host = isIP(name) === 6 ? `[${cased}]` : cased;
  return { text: port === '' ? host : `${host}:${port}`, name, port };
}

/** Inserts characters that no host contains. */
export function damaged(random: Random, text: string): string {
  const at = integer(random, text.length + 1);
  return text.slice(0, at) + pick(random, DAMAGE) + text.slice(at);
}

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

/** One case. Throws when the parsed name is wrong, or a foreign one is allowed. */
export function hosts(random: Random): void {
  const { text, name } = randomHost(random);
  deepStrictEqual(parseHost(text), name, text);
  deepStrictEqual(check(text), isAllowed(name), text);

  const other = damaged(random, text);
  if (!check(other)) return;
  if (!isWellFormed(other)) throw new Error(`allowed: ${JSON.stringify(other)}`);
  const read = parseHost(other) ?? '';
  if (!isAllowed(withoutDot(read))) throw new Error(`allowed: ${JSON.stringify(other)}`);
  if (!URL.canParse(`http://${other.trim()}`)) return;
  const { hostname } = new URL(`http://${other.trim()}`);
  const seen = withoutDot(hostname.replaceAll(/[[\]]/g, ''));
  // An address has several spellings.
  if (seen !== withoutDot(read) && isIP(seen) === 0)
    throw new Error(`${JSON.stringify(other)} is ${seen} to a browser`);
}
