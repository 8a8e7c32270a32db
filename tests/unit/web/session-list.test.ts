import { describe, expect, it } from 'vitest';
import {
  applyAllToList,
  applyToList,
  emptyList,
  groupByWorkspace,
  lastOfPages,
  knownTitleOf,
  listAnew,
  withoutSessions,
  withPage,
  withSingle,
} from '../../../web/state/session-list.ts';
import { frameMaker, session, SESSION } from './session-frames.ts';

const old = session({ id: 'session_0', updated_at: '2026-01-01T00:00:00.000Z', workspace_id: 'wd_infra_000000000000' });
const list = withPage(emptyList, [old, session()]);

describe('the session list', () => {
  it('is ordered by the last change, newest first, ties by id', () => {
    expect(list.sessions.map(({ id }) => id)).toEqual([SESSION, 'session_0']);
    expect(withPage(list, [session({ id: 'session_2' })]).sessions.map(({ id }) => id)).toEqual([
      'session_2',
      SESSION,
      'session_0',
    ]);
  });

  it('follows a turn by events and ignores their repetition', () => {
    const frame = frameMaker();
    const began = frame({
      type: 'event.session.work_changed',
      payload: { busy: true, main_turn_active: true, pending_interaction: 'approval' },
    });
    const ended = frame({
      type: 'event.session.work_changed',
      payload: { busy: false, main_turn_active: false, pending_interaction: 'none', last_turn_reason: 'completed' },
    });
    const busy = applyToList(list, began);
    expect(busy.sessions[0]).toMatchObject({ busy: true, pending_interaction: 'approval' });
    const idle = applyToList(applyToList(busy, ended), began);
    expect(idle.sessions[0]).toMatchObject({ busy: false, last_turn_reason: 'completed' });
  });

  it('updates titles and prompts from events', () => {
    const frame = frameMaker()({
      type: 'session.meta.updated',
      payload: { title: 'Hello', patch: { title: 'Hello', isCustomTitle: false, lastPrompt: 'hello there' } },
    });
    const [first] = applyToList(list, frame).sessions;
    expect(first && knownTitleOf(first)).toBe('Hello');
    expect(first?.last_prompt).toBe('hello there');
  });

  it('adds created sessions and removes archived ones', () => {
    const frame = frameMaker();
    const created = { ...session({ id: 'session_9' }) };
    const grown = applyToList(list, {
      ...frame({ type: 'event.session.created', payload: { session: created } }),
      session_id: 'session_9',
    });
    expect(grown.sessions.map(({ id }) => id)).toContain('session_9');
    const archived = frame({ type: 'event.session.archived', payload: { workspace_id: created.workspace_id } });
    expect(applyToList(grown, archived).sessions.map(({ id }) => id)).not.toContain(SESSION);
  });

  it('keeps events that arrived while it was re-read', () => {
    const frame = frameMaker();
    const asks = frame({
      type: 'event.session.work_changed',
      payload: { busy: true, main_turn_active: true, pending_interaction: 'question' },
    });
    const created = {
      ...frame({ type: 'event.session.created', payload: { session: session({ id: 'session_9' }) } }),
      session_id: 'session_9',
    };
    const before = [asks, created].reduce(applyToList, list);
    const anew = listAnew(before, [session()], [asks, created]);
    expect(anew.sessions.map(({ id }) => id)).toEqual(['session_9', SESSION]);
    expect(anew.sessions.at(-1)).toMatchObject({ pending_interaction: 'question' });
    expect(anew.seen).toEqual(before.seen);
  });

  it('is the same after a batch of events as after each of them, and the same object without an effect', () => {
    const frame = frameMaker();
    const created = { ...frame({ type: 'event.session.created', payload: { session: session({ id: 'session_9' }) } }) };
    const frames = [
      { ...created, session_id: 'session_9' },
      frame({
        type: 'event.session.work_changed',
        payload: { busy: true, main_turn_active: true, pending_interaction: 'none' },
      }),
      frame({ type: 'session.meta.updated', payload: { patch: { title: 'Later' } } }),
      { ...frame({ type: 'event.session.archived', payload: { workspace_id: old.workspace_id } }) },
    ];
    for (let count = 0; count <= frames.length; count += 1) {
      const some = frames.slice(0, count);
      expect(applyAllToList(list, some)).toEqual(some.reduce(applyToList, list));
    }
    const unrelated = frame({ type: 'prompt.queued', payload: { promptId: 'p', content: [], queueLength: 1 } });
    expect(applyAllToList(list, [unrelated, unrelated])).toBe(list);
  });

  it('continues after the last session of its pages, not after one that was read individually', () => {
    const oldest = session({ id: 'session_00', updated_at: '2025-01-01T00:00:00.000Z' });
    const more = withSingle(list, oldest);
    expect(more.sessions.at(-1)?.id).toBe('session_00');
    expect(lastOfPages(more)?.id).toBe('session_0');
    // Its page has been read.
    expect(lastOfPages(withPage(more, [oldest]))?.id).toBe('session_00');
    expect(withSingle(more, oldest).sessions).toHaveLength(3);
  });

  it('loses sessions that were archived from here, before their events arrive', () => {
    expect(withoutSessions(list, new Set([SESSION, 'unknown'])).sessions.map(({ id }) => id)).toEqual(['session_0']);
  });

  it('groups by workspace, the one with the newest session first', () => {
    const workspace = {
      id: old.workspace_id,
      root: '/home/me/infra',
      name: 'Infrastructure',
      created_at: '',
      last_opened_at: '',
      session_count: 1,
    };
    const groups = groupByWorkspace(list.sessions, [workspace]);
    expect(groups.map(({ name }) => name)).toEqual(['shop', 'Infrastructure']);
  });
});
