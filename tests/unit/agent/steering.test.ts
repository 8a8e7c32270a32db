/** Steering where no client can bring it about: a turn without a prompt, a server that died before a step took it. */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { foldJournal } from '#server/journal/cold-fold.ts';
import { openTalk, scriptedModel } from '#support/agent-session.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { temporaryFolder } from '#support/session-logs.ts';

/** An agent in a turn that waits for its first answer. */
async function runningTurn(begin: (talk: Awaited<ReturnType<typeof openTalk>>) => void) {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  let answer = () => {};
  const waits = new Promise<void>((resolve) => (answer = resolve));
  const first = async () => {
    await waits;
    return { parts: [{ type: 'text' as const, text: 'first' }], calls: [], finishReason: 'completed' as const };
  };
  const { program } = scriptedModel(first, { text: 'second' });
  const talk = await openTalk({ dir: path, program });
  begin(talk);
  await talk.nth('turn.step.started');
  return { talk, answer, path };
}

it('makes the first prompt that of a turn without one: it is shown as active and settled with it', async () => {
  const { talk, answer } = await runningTurn(({ main }) =>
    main.context.request({ origin: { kind: 'system_trigger', name: 'test' }, messages: [] }),
  );
  const { main } = talk.session.agents;
  const [p0, p1] = [talk.submit('one'), talk.submit('two')];
  main.steer([p1, p0]);
  expect(talk.all('prompt.steered')[0]?.payload).toMatchObject({ activePromptId: p0, promptIds: [p0, p1] });
  expect((await main.prompts()).active).toMatchObject({ prompt_id: p0 });
  expect(main.inFlight()).toMatchObject({ current_prompt_id: p0 });
  answer();
  await talk.idle();
  expect(talk.all('prompt.started')).toEqual([]);
  expect(talk.all('prompt.completed').map(({ payload }) => payload)).toMatchObject([{ promptId: p0 }]);
  expect((await main.prompts()).active).toBeNull();
  await talk.close();
});

it('loses no text when the server dies before a step takes it', async () => {
  const { talk, answer, path } = await runningTurn((opened) => void opened.submit('go'));
  const steered = talk.submit('by the way');
  talk.session.agents.main.steer([steered]);
  const crashed = join(path, 'crashed');
  await mkdir(crashed);
  await copyFile(join(talk.log.dir, 'journal.ndjson'), join(crashed, 'journal.ndjson'));
  const fold = await foldJournal({ dir: crashed, sessionId: talk.session.id, holder: leaseHolder() });
  expect(fold.state.messages.history.at(-1)).toMatchObject({ id: steered, role: 'user' });
  expect(fold.state.prompts.get('main')).toMatchObject({ active: undefined, entering: [] });
  answer();
  await talk.idle();
  await talk.close();
});
