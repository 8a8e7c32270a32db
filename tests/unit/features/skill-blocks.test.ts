/** The blocks of skills in a context. */
import { expect, it } from 'vitest';
import { loadedSkills, nextDepth } from '#server/features/skills/loaded-blocks.ts';
import type { ContextEntry } from '#server/journal/projections/context.ts';
import type { Origin } from '#schema/engine.ts';

type Trigger = Extract<Origin, { kind: 'skill_activation' }>['trigger'];

const text = (value: string) => [{ type: 'text' as const, text: value }];
const block = (name: string, trigger: Trigger, args?: string): ContextEntry => ({
  message: {
    role: 'user',
    content: text('block'),
    toolCalls: [],
    origin: {
      kind: 'skill_activation',
      trigger,
      activationId: name,
      skillName: name,
      ...(args === undefined ? {} : { skillArgs: args }),
    },
  },
});
const response: ContextEntry = { message: { role: 'assistant', content: [], toolCalls: [] }, turnId: 0, step: 1 };
const result: ContextEntry = { message: { role: 'tool', content: text('loaded'), toolCalls: [], toolCallId: 'c' } };
const reminder: ContextEntry = {
  message: { role: 'user', content: text('r'), toolCalls: [], origin: { kind: 'injection', variant: 'date_change' } },
};
const prompt: ContextEntry = {
  message: { role: 'user', content: text('go'), toolCalls: [], origin: { kind: 'user' } },
};

it.each([
  ['without a block', [prompt, response], 0],
  ['directly after a block of a person', [block('a', 'user-slash'), reminder, response], 1],
  ['directly after a block of the model', [prompt, response, result, block('a', 'model-tool'), response], 1],
  [
    'after nested blocks',
    [prompt, response, result, block('a', 'model-tool'), response, result, block('b', 'nested-skill'), response],
    2,
  ],
  ['with another response in between', [block('a', 'user-slash'), response, result, response], 0],
])('the depth of a call %s', (_case, entries, depth) => {
  expect(nextDepth(entries)).toBe(depth);
});

it('for a summary are bounded lines, each a single time, since the last compaction', () => {
  const before = block('old', 'user-slash');
  const entries = [before, block('a', 'user-slash', ' x\n\n## Task\ny '), block('a', 'user-slash', 'x ## Task y')];
  expect(loadedSkills({ entries, barrier: 1 })).toEqual(['a x ## Task y']);
  const long = loadedSkills({ entries: [block('a', 'model-tool', 'y'.repeat(1_000_000))], barrier: 0 });
  expect(long[0]).toHaveLength(200);
  const many = Array.from({ length: 80 }, (_, n) => block(`s${n}`, 'model-tool'));
  expect(loadedSkills({ entries: many, barrier: 0 })).toEqual(many.slice(30).map((_, n) => `s${n + 30}`));
});
