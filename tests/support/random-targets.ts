/** Random request targets: targets of real endpoints, encoded and damaged where parsers disagree. */
import { METHODS } from 'node:http';
import { integer, pick, type Random } from './random.ts';

/** Methods of endpoints; a target with any other method reaches none. */
const USED = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
/** All methods that Node's parser delivers as requests. */
const DELIVERED = METHODS.filter((method) => method !== 'CONNECT');
/** The three target forms that Node's parser delivers; it refuses every other form. */
const BEGINNINGS = [
  '',
  '',
  '/',
  '//',
  '/.',
  '/x/..',
  '*',
  '*x',
  '**',
  '/*',
  '*://h',
  'http://h',
  'HTTPS://h:1',
  'x://y',
];
const AUTHORITIES = [
  'http://',
  'http:///',
  'http://@',
  'http://u:p@h',
  'http://[::1]:80',
  'ftp://h',
  'ws://h',
  'a+b.c-d://',
];
const ADDITIONS = [
  '/',
  '//',
  '/.',
  '/..',
  '?',
  '?x=/api/',
  '#',
  '%2F',
  '%2f',
  '%3F',
  '%23',
  '%00',
  '%',
  '%zz',
  '%C3',
  '%25',
  ';',
  ':',
  '\\',
  '*',
  '@',
  '&',
];

const encoded = (character: string): string => `%${character.charCodeAt(0).toString(16).padStart(2, '0')}`;

/** Path of a real endpoint; `route` has `:name` for its parameters. */
export function pathOf(random: Random, route: string): string {
  return route
    .replaceAll(/\*\*:[^/]+/g, 'a/b:download')
    .replaceAll(/:[a-z_]+(?=$|\/)/g, () => pick(random, ['x', 'session_01', 'a:b', '%3Aq', '']));
}

/** A method and target; `routes` are the public paths of endpoints. */
export function randomRequest(random: Random, routes: readonly string[]): { method: string; target: string } {
  let target = pathOf(random, pick(random, routes));
  for (let changes = integer(random, 3); changes > 0; changes -= 1) {
    const at = integer(random, target.length);
    const kind = random();
    if (kind < 0.4) target = target.slice(0, at) + encoded(target.charAt(at)) + target.slice(at + 1);
    else if (kind < 0.7) target = target.slice(0, at) + pick(random, ADDITIONS) + target.slice(at);
    else if (kind < 0.8) target = target.slice(0, at) + target.charAt(at).toUpperCase() + target.slice(at + 1);
    else target += pick(random, ADDITIONS);
  }
  const beginning = random() < 0.6 ? pick(random, BEGINNINGS) : pick(random, AUTHORITIES);
  return { method: pick(random, random() < 0.5 ? USED : DELIVERED), target: beginning + target };
}
