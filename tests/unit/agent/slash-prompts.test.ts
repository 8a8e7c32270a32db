/** Prompts of another origin than a person's message, and prompts with the blocks of skills. */
import { expect, it } from 'vitest';
import type { QueuedPrompt } from '#server/agent/contract/prompts.ts';
import { slashLine, withoutSkillBlocks } from '#server/journal/typed-prompts.ts';
import type { BundledSkill } from '#schema/engine.ts';
import { openTalk, scriptedModel, textOf, type ModelAnswer } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const bundled = (name: string): BundledSkill => ({ activationId: `a-${name}`, skillName: name });
const text = (value: string) => ({ type: 'text' as const, text: value });

function slashPrompt(id: string, name: string, args: string): QueuedPrompt {
  const typed = text(`/${name} ${args}`);
  return {
    id,
    origin: { kind: 'skill_activation', trigger: 'user-slash', ...bundled(name), skillArgs: args },
    createdAt: 0,
    input: {
      content: [typed],
      eventContent: [typed],
      parts: [text(`block of ${name}`)],
      text: `block of ${name}`,
      typed: typed.text,
      attachments: [],
    },
  };
}

/** A prompt with one skill. */
function prompt(id: string, said: string, skill: string): QueuedPrompt {
  return {
    id,
    origin: { kind: 'user', skillActivations: [bundled(skill)] },
    createdAt: 0,
    input: {
      content: [text(said)],
      eventContent: [text(said)],
      parts: [text(`block of ${skill}`), text(said)],
      text: said,
      attachments: [],
    },
  };
}

async function talkWith(...answers: ModelAnswer[]) {
  const { services, requests } = scriptedModel(...answers);
  return { ...(await openTalk({ dir: folder.path, services })), requests };
}

/** A talk whose first turn waits for `answer`, and then has another step. */
async function holdFirstTurn() {
  let answer = () => {};
  const talk = await talkWith(
    () =>
      new Promise((resolve) => {
        answer = () => resolve({ parts: [{ type: 'text', text: 'One.' }], calls: [], finishReason: 'completed' });
      }),
    { text: 'Two.' },
  );
  talk.submit('first');
  await talk.nth('turn.step.started');
  return { talk, answer: () => answer() };
}

it('opens a turn with its expansion, displayed as the line that was typed', async () => {
  const talk = await talkWith({ text: 'Hi Bob.' });
  const reply = talk.main.submit(slashPrompt('msg_1', 'greet', 'bob'), []);
  expect(reply.content).toEqual([text('/greet bob')]);
  await talk.idle();
  const events = talk.durable().map(({ type }) => type);
  expect(events).not.toContain('prompt.submitted');
  expect(events).not.toContain('prompt.started');
  expect(events).toContain('prompt.completed');
  expect(talk.all('turn.started')[0]?.payload).toMatchObject({
    promptId: 'msg_1',
    prompt: 'block of greet',
    origin: { kind: 'skill_activation', skillName: 'greet', skillArgs: 'bob', trigger: 'user-slash' },
  });
  expect(talk.requests[0]?.messages.map(textOf)).toContain('block of greet');
  const { items } = (await talk.session.transcripts.open()).fold.agents.get('main')!.state;
  expect(items.flatMap((item) => (item.kind === 'turn' ? item.prompt : []))).toEqual(['/greet bob']);
  await talk.close();
});

it('is steered as one message: the blocks of all prompts, then the rest of all', async () => {
  const { talk, answer } = await holdFirstTurn();
  talk.main.submit(prompt('msg_1', 'one', 'alpha'), []);
  talk.main.submit(slashPrompt('msg_2', 'greet', 'bob'), []);
  expect(talk.all('prompt.queued').map(({ payload }) => payload.content)).toEqual([
    [text('one')],
    [text('/greet bob')],
  ]);
  talk.main.steer(['msg_1', 'msg_2']);
  await talk.nth('prompt.steered');
  answer();
  await talk.idle();
  const entered = talk.main.context.state().entries.find(({ message }) => message.id === 'msg_1')?.message;
  expect(entered?.origin).toEqual({
    kind: 'user',
    skillActivations: [bundled('alpha'), { ...bundled('greet'), skillArgs: 'bob' }],
  });
  expect(entered?.content).toEqual([text('block of alpha'), text('block of greet'), text('one')]);
  expect(withoutSkillBlocks(entered!.content, entered!.origin)).toEqual([text('one')]);
  await talk.close();
});

it('keeps its origin when it is steered alone', async () => {
  const { talk, answer } = await holdFirstTurn();
  talk.main.submit(slashPrompt('msg_2', 'greet', 'bob'), []);
  talk.main.steer(['msg_2']);
  answer();
  await talk.idle();
  const entered = talk.main.context.state().entries.find(({ message }) => message.id === 'msg_2')?.message;
  expect(slashLine(entered?.origin)).toBe('/greet bob');
  const { items } = (await talk.session.transcripts.open()).fold.agents.get('main')!.state;
  const frames = items.flatMap((item) => (item.kind === 'turn' ? item.steps.flatMap((step) => step.frames) : []));
  expect(frames.flatMap((frame) => (frame.kind === 'text' && frame.role === 'user' ? frame.text : []))).toEqual([
    '/greet bob',
  ]);
  await talk.close();
});

it.each([
  [
    { kind: 'plugin_command', pluginId: 'p', commandName: 'db/migrate', activationId: '', trigger: 'user-slash' },
    '/p:db/migrate',
  ],
  [
    { kind: 'skill_activation', skillName: 'greet', skillArgs: 'bob', activationId: '', trigger: 'user-slash' },
    '/greet bob',
  ],
  [{ kind: 'user' }, undefined],
] as const)('is displayed as its line: %j', (origin, line) => {
  expect(slashLine(origin)).toBe(line);
});

it('has as many blocks as skills, among its text parts', () => {
  const origin = { kind: 'user' as const, skillActivations: [bundled('a'), bundled('b')] };
  const image = { type: 'image_url' as const, imageUrl: { url: 'data:' } };
  expect(withoutSkillBlocks([text('a'), image, text('b'), text('said')], origin)).toEqual([image, text('said')]);
});
