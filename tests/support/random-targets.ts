/** Random request targets: targets of real endpoints, encoded and damaged where parsers disagree. */
import { METHODS } from 'node:http';
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { edited, type Edit } from './arbitraries.ts';

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

/** Paths of a real endpoint; `route` has `:name` for its parameters. */
export function pathsOf(route: string): Arbitrary<string> {
  const parts = route.replaceAll(/\*\*:[^/]+/g, 'a/b:download').split(/:[a-z_]+(?=$|\/)/);
  const parameters = parts.slice(1).map(() => fc.constantFrom('x', 'session_01', 'a:b', '%3Aq', ''));
  return fc.tuple(...parameters).map((values) => parts.map((part, index) => part + (values[index] ?? '')).join(''));
}

/** Edits the character at `at`, or appends the addition. */
const EDITS: readonly ((target: string, at: number, addition: string) => string)[] = [
  (target, _, addition) => target + addition,
  (target, at, addition) => target.slice(0, at) + addition + target.slice(at),
  (target, at) => target.slice(0, at) + encoded(target.charAt(at)) + target.slice(at + 1),
  (target, at) => target.slice(0, at) + target.charAt(at).toUpperCase() + target.slice(at + 1),
];

const edits: Arbitrary<Edit<string>> = fc
  .array(fc.tuple(fc.constantFrom(...EDITS), fc.nat(), fc.constantFrom(...ADDITIONS)), { maxLength: 2 })
  .map(
    (list) => (target) => list.reduce((text, [edit, at, addition]) => edit(text, at % text.length, addition), target),
  );

/** Methods and targets; `routes` are the public paths of endpoints. */
export const requestsTo = (routes: readonly string[]): Arbitrary<{ method: string; target: string }> =>
  fc.record({
    method: fc.oneof(fc.constantFrom(...USED), fc.constantFrom(...DELIVERED)),
    target: fc
      .tuple(
        fc.oneof(
          { weight: 6, arbitrary: fc.constantFrom(...BEGINNINGS) },
          { weight: 4, arbitrary: fc.constantFrom(...AUTHORITIES) },
        ),
        edited(fc.oneof(...routes.map(pathsOf)), edits),
      )
      .map(([beginning, target]) => beginning + target),
  });
