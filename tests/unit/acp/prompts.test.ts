/** Prompts of the editor: each has one outcome. */
import { ApiError, applyOps, emptyTranscript, type TranscriptOp, type TranscriptState } from '@service-code/client';
import { describe, expect, it } from 'vitest';
import { internal } from '../../../clients/acp/errors.ts';
import { createPrompts, type PromptRequest } from '../../../clients/acp/prompts.ts';

type Status = 'running' | 'queued' | 'blocked' | 'completed' | 'failed' | 'aborted';

const entry = (promptId: string, status: Status, more: object = {}): TranscriptOp => ({
  op: 'prompt.upsert',
  prompt: { promptId, status, createdAt: '2026-01-01T00:00:00.000Z', ...more },
});
const turn = (
  ordinal: number,
  state: 'running' | 'completed' | 'failed' | 'cancelled',
  more: object = {},
): TranscriptOp => ({
  op: 'turn.upsert',
  turn: { kind: 'turn', turnId: `t${ordinal}`, ordinal, state, origin: { kind: 'user' }, ...more },
});
const marker = (markerId: string, name: string, payload: object): TranscriptOp => ({
  op: 'marker.upsert',
  item: { kind: 'marker', markerId, marker: name, payload },
});
const turnsOfEvents = () => new Promise((resolve) => setImmediate(resolve));

function open() {
  const main = emptyTranscript();
  const agents = new Map<string, TranscriptState>([['main', main]]);
  const prompts = createPrompts(agents);
  const aborted: string[] = [];
  const request = (id: string | undefined, text = 'p'): PromptRequest => ({
    id,
    text,
    submit: async () => ({ hasEnded: false }),
    abort: async (promptId) => void aborted.push(promptId ?? 'turn'),
  });
  const run = (one: PromptRequest) => prompts.run(one, new AbortController().signal);
  return {
    main,
    prompts,
    aborted,
    request,
    run,
    apply(...ops: TranscriptOp[]) {
      applyOps(main, ops);
      prompts.changed();
    },
    /** The server is another one, or has lost the prompt: a page has unsettled prompts only. */
    reset: () => main.prompts.clear(),
  };
}

describe('createPrompts', () => {
  it('ends with its prompt, and owns its turn', async () => {
    const { run, request, apply, prompts, main } = open();
    const outcome = run(request('one'));
    apply(entry('one', 'running'));
    apply(turn(0, 'running', { prompt: 'converted' }));
    await turnsOfEvents();
    apply(turn(0, 'completed', { prompt: 'converted' }), entry('one', 'completed'));
    expect(await outcome).toEqual({ stopReason: 'end_turn' });
    const [item] = main.items;
    expect(item?.kind === 'turn' && prompts.isOwn(item)).toBe(true);
  });

  it.each([
    ['loop.max_steps_exceeded', { stopReason: 'max_turn_requests' }],
    ['context.overflow', { stopReason: 'max_tokens' }],
    ['provider.filtered', { stopReason: 'refusal' }],
    ['provider.api_error', { error: { code: -32603, message: 'text', data: { code: 'provider.api_error' } } }],
  ])('ends a turn that failed with %s as %j', async (code, expected) => {
    const { run, request, apply } = open();
    const outcome = run(request('one'));
    await turnsOfEvents();
    apply(turn(0, 'running', { prompt: 'p' }), entry('one', 'running'));
    const failed = turn(0, 'failed', { prompt: 'p', error: 'text' });
    apply(failed, marker('m1', 'notice', { level: 'error', event: { code, message: 'text' } }), entry('one', 'failed'));
    expect(await outcome).toMatchObject(expected);
  });

  it('ends a blocked prompt with the reason of the hook', async () => {
    const { run, request, apply } = open();
    const outcome = run(request('one'));
    await turnsOfEvents();
    apply(
      marker('m1', 'hook', { hookEvent: 'UserPromptSubmit', content: 'no', blocked: true }),
      entry('one', 'blocked'),
    );
    expect(await outcome).toEqual({ stopReason: 'refusal', message: 'no' });
  });

  it('cancels each prompt once', async () => {
    const { run, request, apply, prompts, aborted } = open();
    const outcomes = Promise.all([run(request('one')), run(request('two'))]);
    await turnsOfEvents();
    prompts.cancel();
    prompts.cancel();
    expect(aborted).toEqual(['one', 'two']);
    apply(entry('one', 'completed'), entry('two', 'aborted'));
    expect(await outcomes).toEqual([{ stopReason: 'cancelled' }, { stopReason: 'cancelled' }]);
  });

  it('cancels a prompt that is being sent, after it was accepted', async () => {
    const { run, request, apply, prompts, aborted } = open();
    let accept: (reply: { hasEnded: boolean }) => void = () => {};
    const outcome = run({ ...request('one'), submit: () => new Promise((resolve) => (accept = resolve)) });
    prompts.cancel();
    expect(aborted).toEqual([]);
    accept({ hasEnded: false });
    await turnsOfEvents();
    expect(aborted).toEqual(['one']);
    apply(entry('one', 'aborted'));
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  it('ends as cancelled when the server cannot be reached', async () => {
    const { run, request, prompts } = open();
    const outcome = run({ ...request('one'), abort: () => Promise.reject(new Error('away')) });
    await turnsOfEvents();
    prompts.cancel();
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  it('ends when it had ended before a server that was started again has replied', async () => {
    const { run, request, apply } = open();
    const outcome = run({ ...request('one'), submit: async () => ({ hasEnded: true }) });
    apply(turn(0, 'running', { prompt: 'p' }));
    await turnsOfEvents();
    apply(turn(0, 'cancelled', { prompt: 'p' }), marker('m1', 'interruption', { turnId: 0, reason: 'server_stopped' }));
    expect(await outcome).toMatchObject({ error: { code: -32603, message: expect.stringMatching(/stopped/) } });
  });

  describe('that is cancelled after its end', () => {
    const hasEnded = () => Promise.reject(new ApiError(40903, 'has ended', { status: 200 }));

    it('ends as cancelled when the transcript does not know it any more', async () => {
      const { run, request, prompts } = open();
      const outcome = run({ ...request('one'), abort: hasEnded });
      await turnsOfEvents();
      prompts.cancel();
      expect(await outcome).toEqual({ stopReason: 'cancelled' });
    });

    it('ends with its entry, after the last updates', async () => {
      const { run, request, apply, prompts } = open();
      let isEnded = false;
      const outcome = run({ ...request('one'), abort: hasEnded }).finally(() => (isEnded = true));
      await turnsOfEvents();
      apply(entry('one', 'running'));
      prompts.cancel();
      await turnsOfEvents();
      expect(isEnded).toBe(false);
      apply(entry('one', 'completed'));
      expect(await outcome).toEqual({ stopReason: 'cancelled' });
    });
  });

  it('waits for the turn into which another client has steered the prompt', async () => {
    const { run, request, apply, prompts, aborted } = open();
    apply(turn(0, 'running', { prompt: 'other' }));
    const outcome = run(request('one'));
    await turnsOfEvents();
    apply(entry('one', 'queued'));
    apply(entry('one', 'completed', { steeredAt: '2026-01-01T00:00:00.000Z' }));
    prompts.cancel();
    expect(aborted).toEqual(['turn']);
    apply(turn(0, 'cancelled', { prompt: 'other' }));
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  describe('knows the text of a steered prompt after the end of the turn, because it is displayed later', () => {
    const steered = entry('one', 'completed', { steeredAt: '2026-01-01T00:00:00.000Z' });
    const ownTexts = ({ main, prompts }: ReturnType<typeof open>) =>
      main.items.map((item) => item.kind === 'turn' && prompts.isOwnText('mine', item));

    it('that has ended after the prompt was accepted', async () => {
      const opened = open();
      opened.apply(turn(0, 'running', { prompt: 'other' }));
      const outcome = opened.run(opened.request('one', 'mine'));
      await turnsOfEvents();
      opened.apply(steered);
      opened.apply(turn(0, 'completed', { prompt: 'other' }), turn(1, 'running', { prompt: 'next' }));
      expect(await outcome).toEqual({ stopReason: 'end_turn' });
      expect(ownTexts(opened)).toEqual([true, false]);
    });

    it('that has ended before', async () => {
      const opened = open();
      opened.apply(turn(0, 'running', { prompt: 'other' }));
      const outcome = opened.run(opened.request('one', 'mine'));
      opened.apply(steered, turn(0, 'completed', { prompt: 'other' }));
      expect(await outcome).toEqual({ stopReason: 'end_turn' });
      expect(ownTexts(opened)).toEqual([true]);
    });
  });

  it('ends with its turn when a resync has lost the entry', async () => {
    const { run, request, apply, reset } = open();
    const outcome = run(request('one'));
    await turnsOfEvents();
    apply(entry('one', 'running'), turn(0, 'running', { prompt: 'p' }));
    reset();
    apply(turn(0, 'cancelled', { prompt: 'p' }), marker('m1', 'interruption', { turnId: 0, reason: 'server_stopped' }));
    expect(await outcome).toMatchObject({ error: { code: -32603, message: expect.stringMatching(/stopped/) } });
  });

  it('ends a queued prompt that the server has lost as cancelled', async () => {
    const { run, request, apply, reset } = open();
    const outcome = run(request('one'));
    await turnsOfEvents();
    apply(entry('one', 'queued'));
    reset();
    apply(turn(0, 'completed', { prompt: 'other' }));
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  it('ends the turn of a command, which has no entry', async () => {
    const { run, request, apply } = open();
    const outcome = run(request(undefined, '/name'));
    await turnsOfEvents();
    apply(turn(0, 'running', { prompt: '/name', origin: { kind: 'other' } }));
    apply(turn(0, 'completed', { prompt: '/name', origin: { kind: 'other' } }));
    expect(await outcome).toEqual({ stopReason: 'end_turn' });
  });

  const content = (text: string) => ({ content: [{ type: 'text', text }] });
  const steered = { steeredAt: '2026-01-01T00:00:00.000Z' };

  it('ends a command that was put into the running turn of another client with that turn', async () => {
    const { run, request, apply, prompts, aborted } = open();
    apply(turn(0, 'running', { prompt: 'other' }), entry('other', 'running', content('other')));
    const outcome = run(request(undefined, '/name it'));
    await turnsOfEvents();
    apply(
      entry('skill', 'queued', content('/name it')),
      entry('skill', 'completed', { ...content('/name it'), ...steered }),
    );
    prompts.cancel();
    expect(aborted).toEqual(['turn']);
    apply(turn(0, 'completed', { prompt: 'other' }));
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  it('cancels a command that waits, and no turn of another client', async () => {
    const { run, request, apply, prompts, aborted } = open();
    apply(turn(0, 'running', { prompt: 'other' }));
    const outcome = run(request(undefined, '/name'));
    await turnsOfEvents();
    apply(entry('skill', 'queued', content('/name')));
    prompts.cancel();
    expect(aborted).toEqual(['skill']);
    apply(entry('skill', 'aborted', content('/name')));
    expect(await outcome).toEqual({ stopReason: 'cancelled' });
  });

  it('ends a command that a hook has blocked with the reason', async () => {
    const { run, request, apply } = open();
    const outcome = run(request(undefined, '/name'));
    await turnsOfEvents();
    apply(entry('skill', 'queued', content('/name')));
    apply(marker('m1', 'hook', { hookEvent: 'UserPromptSubmit', content: 'no', blocked: true }));
    apply(entry('skill', 'blocked', content('/name')));
    expect(await outcome).toEqual({ stopReason: 'refusal', message: 'no' });
  });

  it('assigns equal commands in their order, and no entry that is older', async () => {
    const { run, request, apply, aborted, prompts } = open();
    apply(entry('old', 'completed', content('/name')));
    const outcomes = Promise.all([run(request(undefined, '/name')), run(request(undefined, '/name'))]);
    await turnsOfEvents();
    apply(entry('a', 'running', content('/name')), turn(0, 'running', { prompt: '/name', origin: { kind: 'other' } }));
    apply(entry('b', 'queued', content('/name')));
    prompts.cancel();
    expect(aborted).toEqual(['a', 'b']);
    apply(entry('a', 'completed', content('/name')), entry('b', 'aborted', content('/name')));
    expect(await outcomes).toEqual([{ stopReason: 'cancelled' }, { stopReason: 'cancelled' }]);
  });

  it('fails all when the connection is lost', async () => {
    const { run, request, prompts } = open();
    const outcome = run(request('one'));
    await turnsOfEvents();
    prompts.fail(internal('lost'));
    expect(await outcome).toMatchObject({ error: { message: 'lost' } });
  });
});
