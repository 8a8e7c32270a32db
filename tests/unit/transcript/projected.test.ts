/** Events that followers of a transcript do not receive. A new event must be added to one of the two lists. */
import { expect, it } from 'vitest';
import { isGlobalEvent } from '#server/events/frame.ts';
import { isProjected } from '#server/transcript/following/projected.ts';
import { durableEvents, globalEvents, volatileEvents } from '#schema/events/catalogue.ts';

it('all are conveyed by operations, except for these', () => {
  const types = Object.keys({ ...durableEvents, ...volatileEvents, ...globalEvents });
  expect(types.filter((type) => !isGlobalEvent(type) && !isProjected(type)).toSorted()).toEqual([
    'agent.created',
    'agent.disposed',
    'context.undone',
    'mcp.server.status',
    'permission.approval.requested',
    'permission.approval.resolved',
    'prompt.queued',
    'tool.list.updated',
  ]);
  expect(types.filter((type) => isGlobalEvent(type) && isProjected(type))).toEqual([]);
});
