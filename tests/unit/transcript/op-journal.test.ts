/** The newest operations of agents, and their bounds. */
import { describe, expect, it } from 'vitest';
import { createOpJournals } from '#server/transcript/op-journal.ts';
import type { StoredOp } from '#server/transcript/reducer/state.ts';

const op = (text = ''): StoredOp => ({
  op: 'prompt.upsert',
  prompt: { promptId: 'p', status: 'running', createdAt: text },
});
const seqs = (batches: readonly { seq: number }[] | undefined) => batches?.map(({ seq }) => seq);

describe('an op journal', () => {
  it('numbers batches without a gap above its base, and returns all after a number', () => {
    const journal = createOpJournals().open(100);
    expect(journal.latest).toBe(100);
    expect(journal.since(100)).toEqual([]);
    expect(journal.since(0)).toBeUndefined();
    for (let n = 0; n < 3; n += 1) journal.add([op()]);
    expect(journal.latest).toBe(103);
    expect(seqs(journal.since(100))).toEqual([101, 102, 103]);
    expect(seqs(journal.since(102))).toEqual([103]);
    expect(journal.since(103)).toEqual([]);
    expect(journal.since(104)).toBeUndefined();
    expect(journal.since(99)).toBeUndefined();
  });

  it('retains the newest batches, up to its limit', () => {
    const journal = createOpJournals({ batches: 2000 }).open(0);
    for (let n = 0; n < 2005; n += 1) journal.add([op()]);
    expect(journal.since(4)).toBeUndefined();
    expect(journal.since(5)).toHaveLength(2000);
  });

  it('retains no more bytes than its limit', () => {
    const journal = createOpJournals({ bytes: 1000 }).open(0);
    for (let n = 0; n < 5; n += 1) journal.add([op('x'.repeat(300))]);
    expect(seqs(journal.since(3))).toEqual([4, 5]);
    expect(journal.since(2)).toBeUndefined();
    journal.add([op('x'.repeat(2000))]);
    expect(journal.since(5)).toBeUndefined();
    expect(journal.since(6)).toEqual([]);
  });

  it('drops its batches first when it was least recently read', () => {
    const journals = createOpJournals({ allBytes: 1000 });
    const [unread, read] = [journals.open(0), journals.open(50)];
    unread.add([op('x'.repeat(300))]);
    read.add([op('x'.repeat(300))]);
    read.since(50);
    read.add([op('x'.repeat(300))]);
    expect(unread.since(0)).toBeUndefined();
    expect(seqs(read.since(50))).toEqual([51, 52]);
    read.close();
    unread.add([op('x'.repeat(300))]);
    expect(seqs(unread.since(1))).toEqual([2]);
    expect(journals.highest).toBe(52);
  });
});
