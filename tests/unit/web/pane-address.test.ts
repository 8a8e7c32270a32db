/** The panes in the address of the page, and the slots that keep their sizes. */
import { expect, it } from 'vitest';
import { parsePlace, sessionsHash, withNeighbour, withSessions } from '../../../web/state/pane-address.ts';

it('reads one to three sessions, each only one time, or a view', () => {
  expect(parsePlace('#/s/a')).toEqual({ sessions: ['a'] });
  expect(parsePlace('#/s/a+b+a+c+d')).toEqual({ sessions: ['a', 'b', 'c'] });
  expect(parsePlace('#/s/+b+')).toEqual({ sessions: ['b'] });
  expect(parsePlace('#/plugins')).toEqual({ sessions: [], view: 'plugins' });
  for (const start of ['', '#/', '#/s/', '#token=x']) expect(parsePlace(start)).toEqual({ sessions: [] });
});

it('writes the address that it reads', () => {
  expect(sessionsHash([])).toBe('#/');
  expect(parsePlace(sessionsHash(['a', 'b'])).sessions).toEqual(['a', 'b']);
});

it('keeps the slot of a session whose neighbour is closed, and gives a replaced one to its successor', () => {
  const two = withSessions([], ['a', 'b']);
  expect(two).toEqual([
    { slot: 0, sessionId: 'a' },
    { slot: 1, sessionId: 'b' },
  ]);
  expect(withSessions(two, ['b'])).toEqual([{ slot: 1, sessionId: 'b' }]);
  expect(withSessions(two, ['a', 'c'])).toEqual([
    { slot: 0, sessionId: 'a' },
    { slot: 1, sessionId: 'c' },
  ]);
  expect(withSessions(withSessions(two, ['b']), ['b', 'c'])).toEqual([
    { slot: 1, sessionId: 'b' },
    { slot: 0, sessionId: 'c' },
  ]);
  expect(withSessions(two, ['b', 'a'])).toEqual([
    { slot: 1, sessionId: 'b' },
    { slot: 0, sessionId: 'a' },
  ]);
});

it('opens a session to the right of a pane; a full page loses its last other pane', () => {
  expect(withNeighbour(['a', 'b'], 0, 'c')).toEqual(['a', 'c', 'b']);
  expect(withNeighbour([], -1, 'c')).toEqual(['c']);
  expect(withNeighbour(['a', 'b', 'c'], 0, 'd')).toEqual(['a', 'd', 'b']);
  expect(withNeighbour(['a', 'b', 'c'], 2, 'd')).toEqual(['a', 'c', 'd']);
});
