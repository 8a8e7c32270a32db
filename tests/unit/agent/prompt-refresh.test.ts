/** A system prompt whose refresh fails. */
import { expect, onTestFinished, test } from 'vitest';
import { openTalk, scriptedModel } from '#support/agent-session.ts';
import { temporaryFolder } from '#support/session-logs.ts';

test('the turn continues with the previous prompt, with a single warning', async () => {
  const folder = await temporaryFolder();
  onTestFinished(() => folder.remove());
  const { services, requests } = scriptedModel({ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' });
  let text = 'old';
  const talk = await openTalk({
    dir: folder.path,
    services: {
      ...services,
      readInstructions: () => Promise.resolve({ text, paths: [], warnings: [] }),
      renderPrompt: (_, { instructions }) =>
        instructions.text === 'new' ? Promise.reject(new Error('no disk')) : Promise.resolve(instructions.text),
    },
  });
  await talk.turn('first');
  text = 'new';
  await talk.turn('second');
  await talk.turn('third');
  expect(requests.map(({ system }) => system)).toEqual(['old', 'old', 'old']);
  expect(talk.all('warning').map(({ payload }) => payload.code)).toEqual(['system-prompt-refresh-failed']);
  expect(talk.all('turn.ended').map(({ payload }) => payload.reason)).toEqual(['completed', 'completed', 'completed']);
});
