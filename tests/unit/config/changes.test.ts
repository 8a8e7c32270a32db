/** The client to which a change of the configuration is attributed. */
import { beforeEach, expect, it } from 'vitest';
import { CHANGE_WINDOW_MS, createChangeWindow, type ChangeWindow, type SeenChange } from '#server/config/changes.ts';
import type { EffectiveConfig } from '#server/config/effective.ts';
import { manualClock, type ManualClock } from '#support/manual-clock.ts';

const curl = { user_agent: 'curl/8.5' };
const page = { client_name: 'service-code-web' };

let clock: ManualClock;
let current: Record<string, unknown>;
let window: ChangeWindow;
let events: unknown[];
let seen: SeenChange[];

beforeEach(() => {
  clock = manualClock();
  current = {};
  events = [];
  seen = [];
  window = createChangeWindow(
    clock,
    () => ({ effective: current as EffectiveConfig, stored: current }),
    (fields, by) => void events.push({ fields, by }),
    (change) => void seen.push(change),
  );
});

function change(more: Record<string, unknown>, by?: typeof curl | typeof page) {
  current = { ...current, ...more };
  window.look({ by });
}

it('changes of one client in a window are one event', () => {
  change({ hooks: [1] }, curl);
  clock.advance(CHANGE_WINDOW_MS - 1);
  change({ permission: 1 }, { ...curl });
  expect(events).toEqual([]);
  clock.advance(1);
  expect(events).toEqual([{ fields: ['hooks', 'permission'], by: curl }]);
});

it('a domain that is not part of the API causes no event', () => {
  change({ swarm: { maxConcurrency: '2' } });
  clock.advance(CHANGE_WINDOW_MS);
  expect(events).toEqual([]);
});

it('changes of different clients, and edits of the file, are separate events', () => {
  change({ hooks: [1] }, curl);
  change({ hooks: [1, 2] });
  change({ permission: 1 }, page);
  clock.advance(CHANGE_WINDOW_MS);
  expect(events).toEqual([
    { fields: ['hooks'], by: curl },
    { fields: ['hooks'], by: undefined },
    { fields: ['permission'], by: page },
  ]);
});

it('a check without a change does not reset the client', () => {
  change({ hooks: [1] }, curl);
  window.look();
  clock.advance(CHANGE_WINDOW_MS);
  expect(events).toEqual([{ fields: ['hooks'], by: curl }]);
});

it('a change that the same client reverts is no event', () => {
  change({ hooks: [1] }, curl);
  change({ hooks: undefined }, curl);
  clock.advance(CHANGE_WINDOW_MS);
  expect(events).toEqual([]);
});

it('each change is published immediately with the file before and after it, and with its origin', () => {
  const origin = Symbol('writer');
  current = { defaultModel: 'a' };
  window.look({ by: page, origin });
  current = { defaultModel: 'b' };
  window.look();
  expect(seen).toEqual([
    { fields: ['defaultModel'], by: page, origin, before: {}, after: { defaultModel: 'a' } },
    {
      fields: ['defaultModel'],
      by: undefined,
      origin: undefined,
      before: { defaultModel: 'a' },
      after: { defaultModel: 'b' },
    },
  ]);
});
