/**
 * Steering at moments that no client can time: a turn without a prompt, one that has just ended, is about to end or
 * fails, a server that crashed before a step took it.
 */
import { copyFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Feature } from '#server/agent/contract/feature.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { foldJournal } from '#server/journal/cold-fold.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { ModelError } from '#server/models/types.ts';
import { openTalk, scriptedModel, textOf } from '#support/agent-session.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { temporaryFolder } from '#support/session-logs.ts';

type Talk = Awaited<ReturnType<typeof openTalk>>;

/** An agent in a turn that waits for its first answer; `answer` resolves it and `fail` rejects it. */
async function runningTurn(begin: (talk: Talk) => void, features?: readonly Feature[]) {
  const { path, remove } = await temporaryFolder();
  onTestFinished(remove);
  let answer = () => {};
  let fail = (_error: Error) => {};
  const waits = new Promise<void>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  const first = async () => {
    await waits;
    return { parts: [{ type: 'text' as const, text: 'first' }], calls: [], finishReason: 'completed' as const };
  };
  const { services, requests } = scriptedModel(first, { text: 'second' }, { text: 'third' });
  const talk = await openTalk({ dir: path, services, ...(features ? { features } : {}) });
  begin(talk);
  await talk.nth('turn.step.started');
  return { talk, answer, fail, path, requests };
}

const queuedOf = async ({ session }: Talk) => (await session.agents.main.prompts()).queued.map((one) => one.prompt_id);

it('makes the first prompt that of a turn without one: it is returned as active and settles with the turn', async () => {
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

it('loses no text when the server crashes before a step takes it', async () => {
  const { talk, answer, path } = await runningTurn((opened) => void opened.submit('go'));
  const steered = talk.submit('by the way', 'a smaller image');
  talk.session.agents.main.steer([steered]);
  const crashed = join(path, 'crashed');
  await mkdir(crashed);
  await copyFile(join(talk.log.dir, 'journal.ndjson'), join(crashed, 'journal.ndjson'));
  const fold = await foldJournal({ dir: crashed, sessionId: talk.session.id, holder: leaseHolder() });
  expect(fold.state.messages.history.at(-1)).toMatchObject({ id: steered, role: 'user' });
  const caption = readContext(fold.state.context, 'main').entries.at(-2)?.message;
  expect(caption).toMatchObject({
    content: [{ text: 'a smaller image' }],
    origin: { kind: 'injection', variant: 'image_compression', ownerPromptId: steered },
  });
  expect(fold.state.prompts.get('main')).toMatchObject({ active: undefined, entering: [] });
  answer();
  await talk.idle();
  await talk.close();
});

it('is refused after the end of the turn is recorded; waiting prompts run in their previous order', async () => {
  const { talk, answer } = await runningTurn((opened) => void opened.submit('go'));
  const { main } = talk.session.agents;
  const [p1, p2] = [talk.submit('one'), talk.submit('two')];
  let refused: unknown;
  let waiting: Promise<string[]> | undefined;
  const stop = talk.log.listen({
    line({ records }) {
      if (waiting || !records.some(({ type }) => type === 'turn.ended')) return;
      try {
        main.steer([p2, p1]);
      } catch (error) {
        refused = error;
      }
      waiting = queuedOf(talk);
    },
    volatile: () => undefined,
    restarted: () => undefined,
  });
  answer();
  await talk.nth('turn.ended');
  stop();
  expect(refused).toEqual(new ServiceError('prompt.not_found', 'no active prompt to steer into'));
  expect(await waiting).toEqual([p1, p2]);
  await talk.idle();
  expect(talk.all('prompt.steered')).toEqual([]);
  expect(talk.all('turn.started').map(({ payload }) => payload['promptId'])).toEqual(['p0', p1, p2]);
  await talk.close();
});

it('enters the context of a turn that fails before a step takes it, in its last journal line', async () => {
  const { talk, fail, requests } = await runningTurn((opened) => void opened.submit('go'));
  const steered = [talk.submit('one'), talk.submit('two')];
  talk.session.agents.main.steer(steered);
  const later = talk.submit('later');
  fail(new ModelError('bad thing', { code: 'provider.api_error', retry: false, name: 'APIStatusError' }));
  await talk.idle();
  const lines = await talk.lines();
  expect(lines.find((line) => line.includes('error'))).toEqual([
    'turn.step.interrupted',
    'turn.ended',
    'error',
    'context.spliced',
    'event.session.work_changed',
    'prompt.completed',
  ]);
  expect(talk.all('prompt.completed').map(({ payload }) => [payload['promptId'], payload['reason']])).toEqual([
    ['p0', 'failed'],
    [later, 'completed'],
  ]);
  expect(requests.at(-1)?.messages.map(textOf).join('|')).toMatch(/go.*one.*two.*later/s);
  await talk.close();
});

it('continues a turn that is about to end: features were called before its end', async () => {
  let asked = () => {};
  let mayGo = () => {};
  const isAsked = new Promise<void>((resolve) => (asked = resolve));
  const go = new Promise<void>((resolve) => (mayGo = resolve));
  const slow: Feature = {
    name: 'slow',
    open: () => ({
      async beforeTurnEnd() {
        asked();
        await go;
        return [];
      },
    }),
  };
  const { talk, answer, requests } = await runningTurn((opened) => void opened.submit('go'), [slow]);
  const waiting = talk.submit('by the way');
  answer();
  await isAsked;
  talk.session.agents.main.steer([waiting]);
  mayGo();
  await talk.idle();
  expect(talk.all('turn.started')).toHaveLength(1);
  expect(talk.all('turn.step.started')).toHaveLength(2);
  expect(requests.at(-1)?.messages.map(textOf).at(-1)).toBe('by the way');
  await talk.close();
});

it('is accepted by a turn that is aborted but has not ended: its text stays in the context', async () => {
  const { talk, answer, requests } = await runningTurn((opened) => void opened.submit('go'));
  const { main } = talk.session.agents;
  const waiting = talk.submit('by the way');
  main.cancelTurn();
  expect(main.cancelling).toBe(true);
  main.steer([waiting]);
  answer();
  await talk.nth('prompt.aborted');
  await talk.turn('next');
  expect(talk.all('turn.ended').map(({ payload }) => payload['reason'])).toEqual(['cancelled', 'completed']);
  expect(requests.at(-1)?.messages.map(textOf).join('|')).toMatch(/go.*by the way.*next/s);
  await talk.close();
});
