/** Titles that the page generates after the first turn of a session. */
import { expect, it } from 'vitest';
import { generateAfterFirstTurn } from '../../../web/features/titles/first-turn.ts';
import type { StateListener } from '../../../web/stores/follow-state.ts';
import type { TranscriptState } from '@service-code/client';
import { frameMaker } from './session-frames.ts';

const frame = frameMaker();
const work = (main_turn_active: boolean, last_turn_reason?: 'completed' | 'failed' | 'cancelled', agent = 'main') =>
  frame({
    type: 'event.session.work_changed',
    agent,
    payload: {
      busy: main_turn_active,
      main_turn_active,
      pending_interaction: 'none',
      ...(last_turn_reason && { last_turn_reason }),
    },
  });

type Items = TranscriptState['items'];
const turn = (turnId: string): Items[number] => ({
  kind: 'turn',
  turnId,
  ordinal: 1,
  origin: { kind: 'user' },
  state: 'completed',
  steps: [],
});

/** A followed session, and the number of titles that were requested for it. */
function open({ turns = 1, hasMoreOlder = false, isRunning = false } = {}) {
  const listeners: StateListener[] = [];
  const items = Array.from({ length: turns }, (_, at) => turn(`t${at}`));
  const session = {
    view: { value: { session: { main_turn_active: isRunning }, main: { items, hasMoreOlder } } },
    listen(listener: StateListener) {
      listeners.push(listener);
      return () => undefined;
    },
  };
  let count = 0;
  const watch = () =>
    generateAfterFirstTurn(session, async () => {
      count += 1;
    });
  watch();
  return {
    items,
    watch,
    count: () => count,
    send(...frames: ReturnType<typeof work>[]) {
      for (const each of frames) for (const { event } of listeners) event(each);
    },
  };
}

it('generates a title a single time after the first turn, also if the session was left meanwhile', () => {
  const session = open({ turns: 0 });
  session.send(work(true));
  session.items.push(turn('t1'));
  session.watch();
  session.send(work(false, 'completed'));
  expect(session.count()).toBe(1);
  session.items.push(turn('t2'));
  session.send(work(true), work(false, 'completed'));
  expect(session.count()).toBe(1);
});

it('also after a turn that ran when the session was opened', () => {
  const session = open({ isRunning: true });
  session.send(work(false, 'completed'));
  expect(session.count()).toBe(1);
});

it.each(['failed', 'cancelled'] as const)('generates none after a turn that has %s', (reason) => {
  const session = open();
  session.send(work(true), work(false, reason));
  expect(session.count()).toBe(0);
});

it('generates none after a later turn, or while older turns are not loaded', () => {
  for (const session of [open({ turns: 2 }), open({ hasMoreOlder: true })]) {
    session.send(work(true), work(false, 'completed'));
    expect(session.count()).toBe(0);
  }
});

it('generates none for a turn that ended before, or for events during which no turn ran', () => {
  const session = open();
  session.send(work(false, 'completed'), work(false, 'completed'));
  expect(session.count()).toBe(0);
});
