import { expect, test } from 'vitest';
import { cloudErrorMessage } from '#server/account/cloud-errors.ts';

const NONE = 'The cloud answered with HTTP status 503';

test.each<[string, unknown, string]>([
  ['error_description', { error: 'x', error_description: ' described ', message: 'm' }, 'described'],
  ['a blank description', { error_description: ' ', message: 'm', detail: 'd' }, 'm'],
  ['detail', { detail: 'd', error: 'x' }, 'd'],
  ['error as a text', { error: 'invalid_grant', errors: ['y'] }, 'invalid_grant'],
  ['the message of error', { error: { code: 'c', message: 'inner', type: 't' } }, 'inner'],
  ['the description of error', { error: { error_description: 'e', detail: 'd' } }, 'e'],
  ['the detail of error', { error: { detail: 'd', code: 'c' } }, 'd'],
  ['the code of error', { error: { type: 't', code: 'c' } }, 'c'],
  ['the type of error', { error: { type: 't', code: 5 } }, 't'],
  ['the first text of errors', { errors: [{}, '', { message: 'first' }, 'second'] }, 'first'],
  ['a text in errors', { errors: [null, 'only'] }, 'only'],
  ['an error in errors', { errors: [{ error: { message: 'deep' } }] }, 'deep'],
  ['the code of an entry of errors', { errors: [{ code: 'c' }] }, 'c'],
  ['members of other types', { message: 5, detail: ['x'], error: 7, errors: 'none' }, NONE],
  ['no member', {}, NONE],
  ['a list', ['x'], NONE],
  ['a text', 'plain', NONE],
  ['null', null, NONE],
])('is read from %s', (_what, body, expected) => {
  expect(cloudErrorMessage(JSON.stringify(body), 503)).toBe(expected);
});

test.each(['', '<html>', '{', `${'['.repeat(300)}${']'.repeat(300)}`])('of %j is the status', (body) => {
  expect(cloudErrorMessage(body, 503)).toBe(NONE);
});

test('is bounded', () => {
  expect(cloudErrorMessage(JSON.stringify({ message: 'x'.repeat(5000) }), 400)).toHaveLength(1000);
});
