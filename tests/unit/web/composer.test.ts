/** The pure parts of the prompt box: recalled prompts, large pastes, efforts, links to sessions, steering. */
import { describe, expect, it } from 'vitest';
import { ApiError, type Rest, type Session, type TranscriptPrompt } from '@service-code/client';
import { effortsOf } from '../../../web/composer/efforts.ts';
import { isLargePaste } from '../../../web/composer/pasted-text.ts';
import { hasMedia, queuedText, queuedWords } from '../../../web/composer/queued-prompt.ts';
import { createRecall } from '../../../web/composer/recall.ts';
import { steerPrompt } from '../../../web/composer/steer.ts';
import { workspacePrompts } from '../../../web/composer/workspace-prompts.ts';
import { matchingSessions, sessionLinkAt, sessionLinkOf } from '../../../web/features/session-links/link.ts';

describe('recalled prompts', () => {
  it('come from one source after the other, each prompt once', async () => {
    const reads: number[] = [];
    const source = (number: number, prompts: string[]) => () => {
      reads.push(number);
      return Promise.resolve(prompts);
    };
    const recall = createRecall(() => [source(1, ['b', ' ', 'a']), source(2, []), source(3, ['a', 'c'])]);
    expect([await recall.older(), await recall.older()]).toEqual(['b', 'a']);
    expect(reads).toEqual([1]);
    expect([await recall.older(), await recall.older()]).toEqual(['c', undefined]);
    expect(recall.current()).toBe('c');
    expect([recall.newer(), recall.newer(), recall.newer(), recall.newer()]).toEqual(['a', 'b', '', '']);
    recall.reset();
    expect(await recall.older()).toBe('b');
  });

  it('lack those of a source that fails', async () => {
    const recall = createRecall(() => [() => Promise.reject(new Error('gone')), () => Promise.resolve(['a'])]);
    expect(await recall.older()).toBe('a');
  });

  it('are not lost by a second request while the first one is read', async () => {
    let answer = (_prompts: string[]) => {};
    const recall = createRecall(() => [() => new Promise((resolve) => (answer = resolve))]);
    // The arrow key is pressed twice in an empty field.
    recall.reset();
    const first = recall.older();
    recall.reset();
    const second = recall.older();
    answer(['b', 'a']);
    expect([await first, await second]).toEqual(['b', undefined]);
    expect([recall.current(), await recall.older()]).toEqual(['b', 'a']);
  });

  it('are those of the session, then of other sessions of its workspace', async () => {
    const paths: string[] = [];
    const rest = {
      request: ((operation: string) => {
        paths.push(operation);
        return Promise.resolve({ agents: [{ messages: [{ prompt: 'old' }, { prompt: 'new' }] }] });
      }) as Rest['request'],
    };
    const session = (id: string, workspace_id: string) =>
      ({ id, workspace_id, last_prompt: `last of ${id}` }) as Session;
    const sessions = [session('s1', 'w'), session('x', 'other'), ...Array.from('abcdefghi', (id) => session(id, 'w'))];
    const sources = workspacePrompts(rest, { id: 's1', workspaceId: 'w', sessions });
    expect(await sources[0]?.()).toEqual(['new', 'old']);
    expect(paths).toEqual(['GET /api/v1/sessions/{session_id}/transcript/user-messages']);
    expect(sources).toHaveLength(10);
    expect(await sources.at(-1)?.()).toEqual(['last of i']);
  });
});

it('a pasted text becomes a file when it would hide what was typed', () => {
  expect(isLargePaste('a line\n'.repeat(100))).toBe(false);
  expect(isLargePaste('a\n'.repeat(150))).toBe(true);
  expect(isLargePaste('a'.repeat(8001))).toBe(true);
});

it.each([
  [{ capabilities: ['tool_use'] }, []],
  [{ capabilities: ['thinking'] }, ['off', 'on']],
  [{ capabilities: ['thinking'], support_efforts: ['low', 'high'] }, ['off', 'low', 'high']],
  [{ capabilities: ['thinking', 'always_thinking'], support_efforts: ['off', 'low', 'high'] }, ['low', 'high']],
  [{ capabilities: ['always_thinking'] }, []],
])('a model with %j offers %j', (model, efforts) => {
  expect(effortsOf(model)).toEqual(efforts);
});

describe('a link to a session', () => {
  it.each([
    ['#', { start: 0, query: '' }],
    ['as in #log', { start: 6, query: 'log' }],
    ['# Heading', undefined],
    ['issue#12', undefined],
    ['##', undefined],
  ])('is typed at the end of %j: %j', (text, found) => {
    expect(sessionLinkAt(text, text.length)).toEqual(found && { ...found, end: text.length });
  });

  it('has the title, which cannot end the link', () => {
    const session = { id: 's/1', title: 'Fix [a](b)\n`x`' } as Session;
    expect(sessionLinkOf(session)).toEqual({ text: String.raw`[Fix \[a\](b) \`x\`](#/s/s%2F1)` });
  });

  it('is offered for matching titles, and for the newest sessions without a query', () => {
    const session = (title: string) => ({ id: title, title }) as Session;
    const sessions = Array.from({ length: 12 }, (_, at) => session(`Session ${at}`)).concat(session('Login form'));
    expect(matchingSessions(sessions, 'login').map(({ id }) => id)).toEqual(['Login form']);
    expect(matchingSessions(sessions, '').map(({ id }) => id)).toEqual(sessions.slice(0, 8).map(({ id }) => id));
  });
});

describe('a queued prompt', () => {
  const prompt = {
    promptId: 'p',
    status: 'queued',
    createdAt: '',
    content: [
      { type: 'image', source: { kind: 'session_media', file_id: 'f' } },
      { type: 'text', text: 'one' },
    ],
  } as TranscriptPrompt;

  it('is displayed with its media, and taken back without', () => {
    expect(queuedText(prompt)).toBe('[image] one');
    expect(queuedWords(prompt)).toBe('one');
    expect([hasMedia(prompt), hasMedia({ ...prompt, content: [] })]).toEqual([true, false]);
  });

  it('is steered, unless it has started as a turn meanwhile', async () => {
    const failing = (code: number) => ({
      request: () => Promise.reject(new ApiError(code, 'no', { status: 200 })),
    });
    expect(await steerPrompt({ request: () => Promise.resolve({} as never) }, 's', 'p')).toBe(true);
    expect(await steerPrompt(failing(40402), 's', 'p')).toBe(false);
    await expect(steerPrompt(failing(40901), 's', 'p')).rejects.toThrow('no');
  });
});
