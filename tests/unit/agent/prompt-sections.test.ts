/** Sections of the system prompt that a feature returns at an agent's first rendering. */
import { expect, it } from 'vitest';
import type { Feature, LiveFeature } from '#server/agent/contract/feature.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';
import { echo } from '#support/echo-tool.ts';
import { openTalk, scriptedModel } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

const feature = (live: LiveFeature): Feature => ({ name: 'test', open: () => live });

async function talkWith(features: readonly Feature[], { toolName = 'Skill', instructions = (): string => '' } = {}) {
  const { services, requests } = scriptedModel({ text: 'One.' }, { text: 'Two.' });
  const shown: Partial<AgentServices> = {
    readInstructions: () => Promise.resolve({ text: instructions(), paths: [], warnings: [] }),
    renderPrompt: (_, facts) =>
      Promise.resolve(`${facts.instructions.text}|${facts.sections.skills}|${facts.sections.plugins}`),
  };
  const talk = await openTalk({
    dir: folder.path,
    features,
    tools: [{ ...echo, name: toolName }],
    services: { ...services, ...shown },
  });
  return { ...talk, requests };
}

it('are stored with the first rendering and reused by later ones', async () => {
  let calls = 0;
  let instructions = 'old';
  const long = 'x'.repeat(20_000);
  const sections = feature({
    promptSections: async (_agent, activeTools) => {
      calls += 1;
      return { skills: `${[...activeTools].join()} ${calls} ${long}`, plugins: `plugins ${calls}` };
    },
  });
  const talk = await talkWith([sections], { instructions: () => instructions });
  await talk.turn('first');
  instructions = 'new';
  await talk.turn('second');
  expect(talk.requests.map(({ system }) => system)).toEqual([
    `old|Skill 1 ${long}|plugins 1`,
    `new|Skill 1 ${long}|plugins 1`,
  ]);
  await talk.close();
  // A long section is in a file of its own, so that the journal's line stays short.
  expect(Math.max(...(await talk.lines()).map((line) => line.length))).toBeLessThan(20);
  const again = await talkWith([sections], { instructions: () => 'third' });
  await again.turn('third');
  expect(again.requests.map(({ system }) => system)).toEqual([`third|Skill 1 ${long}|plugins 1`]);
  expect(calls).toBe(1);
  await again.close();
});

it('omit the skills of an agent without the Skill tool', async () => {
  const talk = await talkWith([feature({ promptSections: async () => ({ skills: 'list', plugins: 'texts' }) })], {
    toolName: 'Echo',
  });
  await talk.turn('go');
  expect(talk.requests.map(({ system }) => system)).toEqual(['||texts']);
  await talk.close();
});

it('stay empty where the journal has empty ones', async () => {
  let calls = 0;
  const sections = feature({
    promptSections: async () => {
      calls += 1;
      return { skills: 'list' };
    },
  });
  const before = await talkWith([]);
  await before.turn('first');
  await before.close();
  const talk = await talkWith([sections], { instructions: () => 'new' });
  await talk.turn('second');
  expect(talk.requests.map(({ system }) => system)).toEqual(['new||']);
  expect(calls).toBe(0);
  await talk.close();
});

it('come with warnings', async () => {
  const warning = { code: 'skill-listing-cut', message: 'Too many.', severity: 'warning' as const };
  const talk = await talkWith([feature({ promptSections: async () => ({ skills: 'list', warnings: [warning] }) })]);
  expect(talk.all('warning').map(({ payload }) => payload.code)).toEqual(['skill-listing-cut']);
  await talk.close();
});
