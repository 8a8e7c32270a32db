/** Which events are not sent of an agent whose transcript is followed. A new event is one or the other. */
import { expect, it } from 'vitest';
import { isGlobalEvent } from '#server/events/frame.ts';
import { isProjected } from '#server/transcript/following/projected.ts';
import { durableEvents, globalEvents, volatileEvents } from '#schema/events/catalogue.ts';

it('all are told by operations, but for the few that none tells of', () => {
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
