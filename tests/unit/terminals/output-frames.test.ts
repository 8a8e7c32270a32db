import { describe, expect, it } from 'vitest';
import { createOutputFrames, KEPT_BYTES, KEPT_FRAMES } from '#server/terminals/output-frames.ts';

const ids = { session_id: 's1', terminal_id: 't1' };
const seqs = (frames: { seq: number }[]) => frames.map(({ seq }) => seq);

describe('the frames of a terminal', () => {
  it('are numbered from 1 and replayed as they are sent', () => {
    const frames = createOutputFrames(ids);
    const sent = frames.output('é');
    expect(JSON.parse(sent.encoded().toString())).toEqual({
      type: 'terminal_output',
      seq: 1,
      ...ids,
      timestamp: expect.stringMatching(/Z$/),
      payload: { data: 'é' },
    });
    expect(sent.encoded()).toBe(sent.encoded());
    frames.output('b');
    const end = frames.exit(null);
    expect(JSON.parse(end.encoded().toString())).toEqual({
      type: 'terminal_exit',
      ...ids,
      timestamp: expect.any(String),
      payload: { exit_code: null },
    });
    expect(seqs(frames.after(0))).toEqual([1, 2, Infinity]);
    expect(seqs(frames.after(1))).toEqual([2, Infinity]);
    expect(seqs(frames.after(99))).toEqual([Infinity]);
  });

  it('are buffered up to a number of frames, including the exit', () => {
    const frames = createOutputFrames(ids);
    for (let count = 0; count < KEPT_FRAMES + 10; count += 1) frames.output('x');
    expect(frames.after(0)).toHaveLength(KEPT_FRAMES);
    expect(frames.after(0)[0]?.seq).toBe(11);
    frames.exit(0);
    expect(frames.after(0)).toHaveLength(KEPT_FRAMES);
    expect(frames.after(0)[0]?.seq).toBe(12);
  });

  it('are buffered up to a number of bytes of their text', () => {
    const frames = createOutputFrames(ids);
    const text = 'é'.repeat(32 * 1024);
    for (let count = 0; count < KEPT_BYTES / (64 * 1024) + 5; count += 1) frames.output(text);
    expect(frames.after(0)).toHaveLength(KEPT_BYTES / (64 * 1024));
    expect(frames.after(0)[0]?.seq).toBe(6);
  });
});
