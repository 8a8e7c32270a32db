import { beforeEach, describe, expect, it } from 'vitest';
import { createChunkCoalescer, type ChunkCoalescer } from '#server/events/chunk-coalescer.ts';

let coalescer: ChunkCoalescer<{ text: string }>;
let emitted: string[];
let timers: Set<() => void>;

/** Calls the callbacks of all running timers. */
function expire(): void {
  for (const callback of timers) callback();
}

beforeEach(() => {
  emitted = [];
  timers = new Set();
  coalescer = createChunkCoalescer({
    append(pending, { text }) {
      if (pending.text.length + text.length > 4) return false;
      pending.text += text;
      return true;
    },
    emit: (key, { text }) => void emitted.push(`${key}:${text}`),
    clock: {
      setTimeout(callback) {
        timers.add(callback);
        return () => void timers.delete(callback);
      },
    },
  });
});

describe('the coalescer of chunks', () => {
  it('joins the chunks of a key until its timer expires, and those of another key apart', () => {
    coalescer.add('a', { text: '1' });
    coalescer.add('b', { text: '2' });
    coalescer.add('a', { text: '3' });
    expect(emitted).toEqual([]);
    expire();
    expect(emitted).toEqual(['a:13', 'b:2']);
    expect(timers.size).toBe(0);
  });

  it('emits the pending chunk before one that does not continue it', () => {
    coalescer.add('a', { text: '123' });
    coalescer.add('a', { text: '45' });
    expect(emitted).toEqual(['a:123']);
    expect(timers.size).toBe(1);
    coalescer.flush('a');
    coalescer.flush('a');
    expect(emitted).toEqual(['a:123', 'a:45']);
    expect(timers.size).toBe(0);
  });

  it('emits or drops what is pending at the end', () => {
    coalescer.add('a', { text: '1' });
    coalescer.add('b', { text: '2' });
    coalescer.flushAll();
    expect(emitted).toEqual(['a:1', 'b:2']);
    coalescer.add('a', { text: '3' });
    coalescer.drop();
    expect(timers.size).toBe(0);
    expect(emitted).toHaveLength(2);
  });
});
