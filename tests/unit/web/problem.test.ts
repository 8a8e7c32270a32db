import { ApiError, ConnectionError } from '@service-code/client';
import { expect, it } from 'vitest';
import { textOf } from '../../../web/messages/messages.ts';
import { ExplainedError, problemOf } from '../../../web/messages/problem.ts';
import { errors } from '../../../web/messages/en/errors.ts';
import { errorCatalogue } from '#server/errors/catalogue.ts';

const apiError = (code: number) => new ApiError(code, 'the message of the server', { status: 200 });

function drawn(error: unknown) {
  const problem = problemOf(error);
  return [problem.what, problem.means, problem.do].map((text) => text && textOf(text));
}

it('an error has the text of its code, and the message of the server', () => {
  expect(drawn(apiError(40901))).toEqual([
    'The session is running.',
    'This is possible only between two turns.',
    'Stop the turn, or wait for its end.',
  ]);
  expect(problemOf(apiError(40901)).reason).toBe('the message of the server');
});

it('an error without a text is a refusal, a failure of the server or of the page, or a lost connection', () => {
  expect(drawn(apiError(49999))[0]).toBe('The server has refused this.');
  expect(drawn(apiError(50099))[0]).toBe('The server has failed.');
  expect(drawn(new ConnectionError('no reply'))[0]).toBe('The server cannot be reached.');
  expect(drawn(new TypeError('a defect'))[0]).toBe('The page has failed.');
  expect(drawn(new ExplainedError('“x” is not valid'))).toEqual(['This is not possible.', undefined, undefined]);
});

it('each text belongs to a code of the catalogue and says what happened', () => {
  const codes = new Set<string>(Object.values(errorCatalogue).map(({ code }) => String(code)));
  const names = new Set(Object.keys(errors).map((key) => key.split('.')[1] ?? ''));
  expect([...names].filter((name) => /^\d/.test(name) && !codes.has(name))).toEqual([]);
  expect([...names].filter((name) => !(`errors.${name}.what` in errors))).toEqual([]);
});
