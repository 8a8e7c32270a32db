import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entering, event, internal } from '#server/journal/records.ts';
import { indexJournal } from '#server/search/index-journal.ts';
import type { ContextMessage, Origin, Part } from '#schema/engine.ts';
import { manualClock } from '#support/manual-clock.ts';
import { openLog, useTemporaryFolder } from '#support/session-logs.ts';
import { documentsOf, openSearchDb, type SearchDb } from './search-db.ts';

const folder = useTemporaryFolder({ inMemory: true });
let search: SearchDb;
beforeEach(() => {
  search = openSearchDb(folder.path);
});
afterEach(() => search.db.close());

type Drafts = Parameters<Awaited<ReturnType<typeof openLog>>['log']['append']>[0];

const clock = manualClock(1_000);

/** The documents of a session whose journal has these lines, one second apart. */
async function documentsFrom(...lines: Drafts[]) {
  const dir = join(folder.path, 'session');
  const { log } = await openLog(dir, { sink: { publish() {} }, clock });
  await log.claim();
  const agent = internal('main', 'agent.config', { model: 'm1', permission: 'manual', maxContextTokens: 1000 });
  for (const line of [[event('main', 'agent.created', {}, { kind: 'main' }), agent], ...lines]) {
    clock.advance(1_000);
    log.append(line);
  }
  await log.close();
  const source = { id: 'session', workspaceId: 'wd_1', archived: false, folder: dir };
  await indexJournal(search.connection, source, Infinity, { newest: true, goesOn: async () => true });
  return documentsOf(search.connection, 'session');
}

const text = (value: string): Part => ({ type: 'text', text: value });
const user = (content: Part[], origin?: Origin, id?: string): ContextMessage => ({
  role: 'user',
  content,
  toolCalls: [],
  ...(origin && { origin }),
  ...(id !== undefined && { id }),
});
const said = (content: Part[], origin: Origin = { kind: 'user' }) =>
  entering('main', [user(content, origin)], { cause: 'input' });
const answered = (parts: Part[], step = 1) =>
  internal('main', 'step.response', { turnId: 0, step, stepId: `s${step}`, parts, calls: [], model: 'm1' });
const titled = (title: string) => event('main', 'session.meta.updated', { title, patch: {} });

const texts = (documents: Awaited<ReturnType<typeof documentsFrom>>) => documents.map((document) => document.text);

describe('a message of the user', () => {
  it('is one document of its texts, joined without a separator, trimmed, without media', async () => {
    const image: Part = { type: 'image_url', imageUrl: { url: 'service-file://file-1' } };
    const [document, ...others] = await documentsFrom([said([text('\n Look '), image, text('here'), text(' \t')])]);
    expect(others).toEqual([]);
    expect(document).toMatchObject({ agent: 'main', role: 'user', text: 'Look here', turn: null, step: null });
  });

  it('is the line of a slash command that was typed', async () => {
    const skill = { kind: 'skill_activation', activationId: 'a', skillName: 'review' } as const;
    const plugin = { kind: 'plugin_command', activationId: 'b', pluginId: 'p', commandName: 'deploy' } as const;
    const documents = await documentsFrom([
      said([text('Long instructions')], { ...skill, trigger: 'user-slash', skillArgs: 'src/a.ts' }),
      said([text('Long instructions')], { ...skill, trigger: 'user-slash' }),
      said([text('Long instructions')], { ...plugin, trigger: 'user-slash', commandArgs: 'now' }),
      said([text('Long instructions')], { ...skill, trigger: 'model-tool' }),
    ]);
    expect(texts(documents).toSorted()).toEqual(['/p:deploy now', '/review', '/review src/a.ts']);
  });

  const bundled = (skillName: string) => ({ activationId: `of ${skillName}`, skillName });

  it('is what was typed after the texts of its skills', async () => {
    const origin: Origin = { kind: 'user', skillActivations: [bundled('a'), bundled('b')] };
    const documents = await documentsFrom([said([text('Skill a'), text('Skill b'), text('Go'), text(' on')], origin)]);
    expect(texts(documents)).toEqual(['Go on']);
  });

  it.each<Origin>([
    { kind: 'injection', variant: 'plan_mode' },
    { kind: 'compaction_summary' },
    { kind: 'system_trigger', name: 'goal_continuation' },
    { kind: 'task', taskId: 't', status: 'completed', notificationId: 'n' },
    { kind: 'hook_result', event: 'UserPromptSubmit' },
    { kind: 'cron_missed', count: 2 },
    { kind: 'shell_command', phase: 'output' },
    { kind: 'retry' },
  ])('is no document if it was not typed: $kind', async (origin) => {
    expect(await documentsFrom([said([text('not typed')], origin)])).toEqual([]);
  });

  it('is no document of an agent that has a copy of it', async () => {
    const message = user([text('copied')], { kind: 'user' });
    expect(
      await documentsFrom([
        entering('main', [message], { cause: 'copy' }),
        entering('main', [message], { cause: 'input', copyOf: 'main' }),
      ]),
    ).toEqual([]);
  });

  it('without content is no document', async () => {
    expect(await documentsFrom([said([text(' \n ')])])).toEqual([]);
  });

  it('has its first 20,000 units, and no half of a surrogate pair', async () => {
    const documents = await documentsFrom([
      said([text('a'.repeat(19_999)), text('🚀 is cut')]),
      said([text('b'.repeat(19_998)), text('🚀 is whole')]),
    ]);
    expect(texts(documents).toSorted()).toEqual(['a'.repeat(19_999), `${'b'.repeat(19_998)}🚀`]);
  });
});

describe('an answer', () => {
  it('is one document for each of its texts, with turn and step, without the thinking and the calls', async () => {
    const documents = await documentsFrom(
      [answered([{ type: 'think', think: 'secret thoughts' }, text('First.'), text('Second.')])],
      [
        internal('main', 'step.response', {
          turnId: 0,
          step: 2,
          stepId: 's2',
          parts: [text('Third.')],
          calls: [{ id: 'c', name: 'Bash', arguments: '{"command":"walrus"}' }],
          model: 'm1',
        }),
        event('main', 'tool.result', { turnId: 0, toolCallId: 'c', output: 'walrus' }),
      ],
    );
    expect(documents).toMatchObject([
      { key: expect.stringMatching(/^main\.\d+\.1$/), role: 'assistant', text: 'First.', turn: 0, step: 1 },
      { key: expect.stringMatching(/^main\.\d+\.2$/), role: 'assistant', text: 'Second.', turn: 0, step: 1 },
      { role: 'assistant', text: 'Third.', turn: 0, step: 2 },
    ]);
  });
});

describe('a title', () => {
  it('is a document of no agent, with the time of the record that set it, whole', async () => {
    const long = `A title of ${'many '.repeat(60)}words`;
    const documents = await documentsFrom([titled('First')], [titled(` ${long} `)], [said([text('later')])]);
    const [title, message] = documents.toSorted((a, b) => a.time - b.time);
    expect(title).toMatchObject({ key: 'title', agent: '', role: 'title', turn: null, text: long });
    expect(Number(message?.time) - Number(title?.time)).toBe(1_000);
  });

  it('that is blank is none', async () => {
    expect(await documentsFrom([titled('First')], [titled('  ')])).toEqual([]);
  });
});

it('a compaction removes no document, and a later undo only those that follow it', async () => {
  const prompt = (id: string, value: string) =>
    entering('main', [user([text(value)], { kind: 'user' }, id)], { cause: 'input' });
  const summary = user([text('summary')], { kind: 'compaction_summary' });
  const spliced = (
    start: number,
    deleteCount: number,
    messages: ContextMessage[],
    x: { cause: 'compaction' | 'undo' },
  ) => event('main', 'context.spliced', { start, deleteCount, messages, tokens: 9 }, x);
  const documents = await documentsFrom(
    [prompt('m1', 'first')],
    [prompt('m2', 'second')],
    [spliced(0, 2, [summary], { cause: 'compaction' })],
    // At the index that the second prompt had.
    [prompt('m3', 'third')],
    [spliced(1, 1, [], { cause: 'undo' }), event('main', 'context.undone', { turns: 1 })],
  );
  expect(texts(documents)).toEqual(['first', 'second']);
});
