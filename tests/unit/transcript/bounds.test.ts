/** Size bounds of what clients receive, and the part of a longer value that remains. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBlobStore } from '#server/journal/blobs.ts';
import { event } from '#server/journal/records.ts';
import { readPage } from '#server/transcript/reads.ts';
import type { Frame } from '#schema/rest/transcript.ts';
import { temporaryFolder } from '#support/session-logs.ts';
import { answer, argument, startFold, step, turn } from './told.ts';

const CHARS = 65_536;
const KIB_64 = 64 * 1024;
const jsonBytes = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

/** A fold with one running call, and that call as a page returns it. */
async function called() {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  const told = startFold();
  told.tell(turn(), step(), answer([], [{ id: 'c1', name: 'Bash' }]));
  const blobs = createBlobStore(path);
  return {
    ...told,
    blobs,
    async shown(): Promise<Frame & { kind: 'tool' }> {
      const { items } = await readPage({ fold: told.fold, load: blobs.load }, 'main', { size: 1 });
      const frame = items[0]?.kind === 'turn' ? items[0].steps[0]?.frames[0] : undefined;
      return frame?.kind === 'tool' ? frame : expect.unreachable('no call');
    },
  };
}

const result = (output: string, isError = false) =>
  event('main', 'tool.result', { turnId: 0, toolCallId: 'c1', output, ...(isError ? { isError } : {}) });

describe('an output', () => {
  const long = 'ä'.repeat(CHARS) + 'x'.repeat(1234);
  const cut = `${'ä'.repeat(CHARS)}\n… [1234 characters left out]`;

  it('at the limit is complete', async () => {
    const { tell, shown } = await called();
    tell(result('x'.repeat(CHARS)));
    expect(await shown()).toMatchObject({ state: 'done', output: 'x'.repeat(CHARS) });
  });

  it('above the limit is truncated with a note, also for an error, and for a text in a file', async () => {
    for (const inFile of [false, true]) {
      for (const isError of [false, true]) {
        const { tell, shown, blobs } = await called();
        const record = result(long, isError);
        tell(inFile ? await blobs.store(record) : record);
        blobs.forget();
        const frame = await shown();
        expect(frame).toMatchObject({ state: isError ? 'error' : 'done', output: cut });
        expect(frame.error).toBe(isError ? cut : undefined);
      }
    }
  });

  it('of parts has each text truncated', async () => {
    const { tell, shown } = await called();
    const text = (of: string) => ({ type: 'text' as const, text: of });
    const image = { type: 'image_url' as const, imageUrl: { url: 'data:image/png;base64,AAAA' } };
    const output = [text(long), image, text('short')];
    tell(event('main', 'tool.result', { turnId: 0, toolCallId: 'c1', output, isError: true }));
    const frame = await shown();
    expect(frame).toMatchObject({ state: 'error', output: [text(cut), image, text('short')] });
    expect(frame).not.toHaveProperty('error');
  });
});

it('texts, prompts, inputs and displays are never truncated', async () => {
  const long = 'x'.repeat(4 * CHARS);
  const { tell, fold, blobs } = await called();
  const display = { kind: 'plan_review' as const, plan: long };
  tell(
    event('main', 'tool.call.started', { turnId: 0, toolCallId: 'c1', name: 'Bash', args: { command: long }, display }),
    event('main', 'turn.step.completed', { turnId: 0, step: 1, stepId: 's1', finishReason: 'tool_use' }),
    turn({ turnId: 1, prompt: long }),
    event('main', 'turn.step.started', { turnId: 1, step: 1, stepId: 's' }),
    {
      ...answer([
        { type: 'text', text: long },
        { type: 'think', think: long },
      ]),
      turnId: 1,
      stepId: 's',
    } as never,
  );
  const { items } = await readPage({ fold, load: blobs.load }, 'main', { size: 2 });
  expect(items).toMatchObject([
    { steps: [{ frames: [{ input: { command: long }, display }] }] },
    { prompt: long, steps: [{ frames: [{ text: long }, { text: long }] }] },
  ]);
});

describe('of a running call', () => {
  it('the arguments retain their end', async () => {
    const { stream, shown } = await called();
    for (let piece = 0; piece < 3; piece += 1) stream(argument('c1', `${piece}`.repeat(40_000)));
    expect((await shown()).inputText).toBe(`${'1'.repeat(CHARS - 40_000)}${'2'.repeat(40_000)}`);
  });

  const progressed = async (update: object) => {
    const { stream, shown } = await called();
    stream({ type: 'tool.progress', fields: { turnId: 0, toolCallId: 'c1', update: update as never } });
    return (await shown()).progress;
  };

  it('the text of its progress retains its end, within the limit of its JSON', async () => {
    const plain = await progressed({ kind: 'stdout', text: `${'a'.repeat(CHARS)}end` });
    expect(plain?.text?.endsWith('aend')).toBe(true);
    for (const written of ['a', '\u001b', '🚀', '\ud83d']) {
      const text = `${written.repeat(CHARS)}end`;
      const progress = await progressed({ kind: 'stdout', text });
      expect(text.endsWith(progress?.text ?? '-')).toBe(true);
      expect(jsonBytes(progress?.text)).toBeLessThanOrEqual(KIB_64);
      expect(jsonBytes(progress?.text)).toBeGreaterThan(KIB_64 / 2);
    }
  });

  it('the data of its progress are omitted when they are too long', async () => {
    const update = (chars: number) => ({ kind: 'custom', customKind: 'k', percent: 5, customData: 'ä'.repeat(chars) });
    expect(await progressed(update(KIB_64 / 2 - 1))).toEqual(update(KIB_64 / 2 - 1));
    expect(await progressed(update(KIB_64 / 2))).toEqual({ kind: 'custom', customKind: 'k', percent: 5 });
  });
});

it('the payload of a marker retains its small members', () => {
  const { tell, state } = startFold();
  // The payload contains the message twice.
  for (const chars of [16_000, 17_000]) tell(event('main', 'warning', { message: 'ä'.repeat(chars), code: 'c' }));
  expect(state.items).toMatchObject([
    { payload: { level: 'warning', message: 'ä'.repeat(16_000), event: { code: 'c' } } },
    { payload: { truncated: true, level: 'warning' } },
  ]);
  for (const item of state.items) if (item.kind === 'marker') expect(jsonBytes(item.payload)).toBeLessThan(KIB_64);
});
