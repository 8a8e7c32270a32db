import { describe, expect, it } from 'vitest';
import { eventLikeFrames, serverFrames, type ServerFrameType } from '#schema/frames/server-frames.ts';
import { errorText, helloText, pongText, resyncText } from '#server/events/outgoing.ts';
import { createOutputFrames, resizedFrame } from '#server/terminals/output-frames.ts';
import { outgoingBatch, outgoingReset } from '#server/transcript/following/outgoing.ts';

const stamp = { sessionId: 's1', time: 1_700_000_000_000, position: { seq: 3, epoch: 'ep_1' } };
const terminal = { session_id: 's1', terminal_id: 't1' };
const emptySnapshot = {
  items: [],
  tasks: [],
  interactions: [],
  attachments: [],
  todos: [],
  prompts: [],
  meta: {},
  hasMoreOlder: false,
};

/** The encoder of each frame; the API tests of file watches check `event.fs.changed`, which has no encoder of its own. */
const encoders: Record<Exclude<ServerFrameType, 'event.fs.changed'>, () => unknown> = {
  server_hello: () => helloText('conn_1', 1000),
  pong: () => pongText('n'),
  resync_required: () => resyncText('s1', 'epoch_changed', stamp.position),
  error: () => errorText('validation.failed', 'x', false),
  terminal_output: () => createOutputFrames(terminal).output('x').encoded(),
  terminal_exit: () => createOutputFrames(terminal).exit(null).encoded(),
  terminal_resized: () => resizedFrame(terminal, 80, 24),
  'transcript.reset': () =>
    outgoingReset(stamp, 2, {
      type: 'transcript.reset',
      agent_id: 'main',
      snapshot: emptySnapshot,
      has_more_older: false,
      seq: 2,
    }).bytes('turn'),
  'transcript.ops': () => outgoingBatch(stamp, 'main', 2, [{ op: 'items.remove', ids: ['t1'] }]).bytes('turn'),
};

const encode = (type: keyof typeof encoders): { payload?: unknown } => JSON.parse(String(encoders[type]()));

describe('frames of the server', () => {
  const own = serverFrames.flatMap((frame) => (frame.type === 'event.fs.changed' ? [] : [frame]));

  it.each(own)('$type is encoded as declared', ({ type, schema }) => {
    const frame = encode(type);
    expect(schema.parse(frame)).toEqual(frame);
  });

  it.each([...eventLikeFrames])(
    '$type has the form of a volatile event, and the payload that is declared',
    (declared) => {
      const frame = encode(declared.type);
      expect(frame).toMatchObject({ type: declared.type, seq: 3, session_id: 's1', epoch: 'ep_1', volatile: true });
      expect(declared.payload.parse(frame.payload)).toEqual(frame.payload);
    },
  );

  it('are declared a single time each', () => {
    const types = [...serverFrames, ...eventLikeFrames].map(({ type }) => type);
    expect(new Set(types).size).toBe(types.length);
  });
});
