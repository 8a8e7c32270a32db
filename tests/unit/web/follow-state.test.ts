/** State of a session that is read over REST, and read again after events. */
import { effectScope, nextTick, shallowRef } from 'vue';
import { describe, expect, it } from 'vitest';
import { followState, type StateListener } from '../../../web/stores/follow-state.ts';
import { eventually } from '#support/patience.ts';
import type { EventFrame } from '@service-code/client';
import { frameMaker } from './session-frames.ts';

const frame = frameMaker();
const toolsChanged = frame({ type: 'tool.list.updated', payload: { reason: 'mcp.connected', serverName: 'x' } });
const queued = frame({ type: 'prompt.queued', payload: { promptId: 'p', content: [], queueLength: 1 } });

/** A session whose events the test sends, and a state whose reads the test answers. */
function open({ shown = true } = {}) {
  const listeners = new Set<StateListener>();
  const session = {
    listen(listener: StateListener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const reads: { resolve(value: string): void; reject(error: Error): void }[] = [];
  const failures: unknown[] = [];
  const active = shallowRef(shown);
  const scope = effectScope();
  const state = scope.run(() =>
    followState<string>(session, {
      load: () => new Promise((resolve, reject) => void reads.push({ resolve, reject })),
      on: ['tool.list.updated'],
      active: () => active.value,
      failed: (error) => failures.push(error),
    }),
  );
  if (!state) throw new Error('the scope is not active');
  return { ...state, reads, failures, active, listeners, scope, all: [...listeners] };
}

it('is read, and read again after its events and when events were missed', async () => {
  const { value, reads, all } = open();
  await eventually(() => expect(reads).toHaveLength(1));
  expect(value.value).toBeUndefined();
  reads[0]?.resolve('first');
  await eventually(() => expect(value.value).toBe('first'));

  for (const { event } of all) event(queued);
  for (const { event } of all) event(toolsChanged);
  await eventually(() => expect(reads).toHaveLength(2));
  reads[1]?.resolve('second');
  await eventually(() => expect(value.value).toBe('second'));

  for (const { eventsMissed } of all) eventsMissed();
  await eventually(() => expect(reads).toHaveLength(3));
  reads[2]?.resolve('third');
  await eventually(() => expect(value.value).toBe('third'));
});

it('coalesces: calls of one task share the first read', async () => {
  const { value, reads, refresh } = open();
  const refreshed = Promise.all([refresh(), refresh()]);
  await eventually(() => expect(reads).toHaveLength(1));
  reads[0]?.resolve('only');
  await refreshed;
  expect(reads).toHaveLength(1);
  expect(value.value).toBe('only');
});

it('coalesces: calls during a read share the next one', async () => {
  const { value, reads, refresh } = open();
  await eventually(() => expect(reads).toHaveLength(1));
  const refreshed = Promise.all([refresh(), refresh()]);
  expect(reads).toHaveLength(1);
  reads[0]?.resolve('stale');
  await eventually(() => expect(reads).toHaveLength(2));
  reads[1]?.resolve('fresh');
  await refreshed;
  expect(reads).toHaveLength(2);
  expect(value.value).toBe('fresh');
});

it('is read only while it is active, and each time it becomes so', async () => {
  const { reads, active, all } = open({ shown: false });
  for (const { event, eventsMissed } of all) {
    event(toolsChanged);
    eventsMissed();
  }
  await nextTick();
  expect(reads).toHaveLength(0);
  active.value = true;
  await eventually(() => expect(reads).toHaveLength(1));
  reads[0]?.resolve('shown');
  active.value = false;
  await nextTick();
  active.value = true;
  await eventually(() => expect(reads).toHaveLength(2));
});

it('keeps its value when a read fails, and is read again later', async () => {
  const { value, reads, failures, refresh } = open();
  await eventually(() => expect(reads).toHaveLength(1));
  reads[0]?.resolve('first');
  await eventually(() => expect(value.value).toBe('first'));
  const refreshed = refresh();
  await eventually(() => expect(reads).toHaveLength(2));
  const failure = new Error('no');
  reads[1]?.reject(failure);
  await refreshed;
  expect(failures).toEqual([failure]);
  expect(value.value).toBe('first');
  void refresh();
  await eventually(() => expect(reads).toHaveLength(3));
});

describe('with a function that applies events', () => {
  /** A list of the names of the servers that changed. */
  function following() {
    const listeners = new Set<StateListener>();
    const reads: ((names: string[]) => void)[] = [];
    const scope = effectScope();
    const state = scope.run(() =>
      followState<string[]>(
        {
          listen(listener) {
            listeners.add(listener);
            return () => void listeners.delete(listener);
          },
        },
        {
          load: () => new Promise((resolve) => void reads.push(resolve)),
          on: ({ type }) => type === 'prompt.queued',
          apply: (names, event) => (event.type === 'tool.list.updated' ? [...names, event.payload.serverName] : names),
          failed: () => expect.fail('no read fails'),
        },
      ),
    );
    if (!state) throw new Error('the scope is not active');
    const send = (event: EventFrame) => {
      for (const listener of listeners) listener.event(event);
    };
    return { ...state, reads, send };
  }

  it('changes with an event, without a read', async () => {
    const { value, reads, send } = following();
    await eventually(() => expect(reads).toHaveLength(1));
    reads[0]?.(['a']);
    await eventually(() => expect(value.value).toEqual(['a']));
    send(toolsChanged);
    expect(value.value).toEqual(['a', 'x']);
    await nextTick();
    expect(reads).toHaveLength(1);
    send(queued);
    await eventually(() => expect(reads).toHaveLength(2));
  });

  it('adds the events of a running read to its reply', async () => {
    const { value, reads, send } = following();
    await eventually(() => expect(reads).toHaveLength(1));
    send(toolsChanged);
    expect(value.value).toBeUndefined();
    reads[0]?.(['a']);
    await eventually(() => expect(value.value).toEqual(['a', 'x']));
    send(queued);
    await eventually(() => expect(reads).toHaveLength(2));
    reads[1]?.(['b']);
    await eventually(() => expect(value.value).toEqual(['b']));
  });
});

it.each(['resolve', 'reject'] as const)(
  'ends with its scope: no listener is left, and a later %s has no effect',
  async (settle) => {
    const { value, reads, failures, refresh, listeners, scope } = open();
    await eventually(() => expect(reads).toHaveLength(1));
    const refreshed = refresh();
    expect(listeners.size).toBe(1);
    scope.stop();
    expect(listeners.size).toBe(0);
    if (settle === 'resolve') reads[0]?.resolve('late');
    else reads[0]?.reject(new Error('late'));
    await refreshed;
    expect(value.value).toBeUndefined();
    expect(failures).toEqual([]);
    expect(reads).toHaveLength(1);
  },
);
