/** The messages at which an undo may cut a history. */
import { describe, expect, it } from 'vitest';
import { cutFrom, cutPointsOf } from '#server/journal/cut-points.ts';
import type { ContextMessage, Origin } from '#schema/engine.ts';

const message = (origin?: Origin, role: ContextMessage['role'] = 'user') => ({ role, ...(origin ? { origin } : {}) });

describe('the cut points of a splice', () => {
  it('are the prompts of the user, and the messages that belong to one', () => {
    const messages = [
      message({ kind: 'injection', variant: 'x', ownerPromptId: 'p' }),
      message({ kind: 'user' }),
      message({ kind: 'hook_result', event: 'e', ownerPromptId: 'p' }),
      // Not added for a prompt.
      message({ kind: 'injection', variant: 'x' }),
      message({ kind: 'hook_result', event: 'e' }),
      message(undefined, 'assistant'),
      message({ kind: 'task', taskId: 't', status: 'completed', notificationId: 'n' }),
      message(),
    ];
    expect(cutPointsOf(messages, 10, 7)).toEqual([
      { index: 10, at: 7, isAnchor: false },
      { index: 11, at: 7, isAnchor: true },
      { index: 12, at: 7, isAnchor: false },
      { index: 17, at: 7, isAnchor: true },
    ]);
    expect(cutPointsOf([], 3, 7)).toEqual([]);
  });
});

describe('an undo', () => {
  const points = [
    { index: 0, at: 1 },
    { index: 4, at: 9 },
    { index: 6, at: 8 },
  ];

  it('removes the points from its index on, and what was recorded since the earliest of them', () => {
    expect(cutFrom(points, 4)).toEqual({ kept: points.slice(0, 1), removed: points.slice(1), cut: 8 });
    expect(cutFrom(points, 5)).toEqual({ kept: points.slice(0, 2), removed: points.slice(2), cut: 8 });
    expect(cutFrom(points, 0)).toEqual({ kept: [], removed: points, cut: 1 });
  });

  it('removes nothing without a point', () => {
    expect(cutFrom(points, 7)).toEqual({ kept: points, removed: [], cut: Infinity });
  });
});
