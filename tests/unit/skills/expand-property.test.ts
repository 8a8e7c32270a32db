/** Property: expansion gives no tag, and no value of a placeholder, that neither the body nor a value had. */
import { expect, it } from 'vitest';
import { expandSkill, splitArguments } from '#server/skills/expand.ts';
import { integer, pick, seeded, type Random } from '#support/random.ts';
import { testSkill } from '#support/skills.ts';

const RUNS = 3000;
const DIR = '/folder-of-the-skill';
const SESSION = 'session-of-the-skill';

/** Pieces that together make placeholders, tags and escapes in all combinations. */
const PIECES = [
  '$',
  '\\',
  '<',
  '>',
  '/',
  '&',
  '"',
  "'",
  ' ',
  '\n',
  '{',
  '}',
  '[',
  ']',
  '0',
  '1',
  '2',
  'x',
  'ARGUMENTS',
  'ARGU',
  'MENTS',
  'SERVICE_SKILL_DIR',
  'SERVICE_',
  'SESSION_ID',
  'who',
  'skill-loaded',
  'skill-',
  'loaded',
  'plugin-instructions',
  '$ARGUMENTS',
  '$ARGUMENTS[0]',
  '$0',
  '$1',
  '$who',
  '${SERVICE_SKILL_DIR}',
  '${SERVICE_SESSION_ID}',
  '</skill-loaded>',
  '</plugin-instructions>',
  '<skill-loaded name="',
  '&lt;',
  '&amp;',
];

const text = (random: Random, most: number) =>
  Array.from({ length: integer(random, most + 1) }, () => pick(random, PIECES)).join('');

const countOf = (source: string, part: string) => source.split(part).length - 1;

it('holds for random bodies and random arguments', () => {
  const random = seeded(24);
  for (let run = 0; run < RUNS; run += 1) {
    const [body, args] = [text(random, 12), text(random, 8)];
    const skill = testSkill('a', { body, dir: DIR, arguments: random() < 0.5 ? ['who'] : [] });
    const block = expandSkill(skill, { args, sessionId: SESSION, trigger: 'user-slash' }).text;
    const head = block.slice(0, block.indexOf('>\n') + 2);
    const inner = block.slice(head.length, -'\n</skill-loaded>'.length);
    const shown = JSON.stringify({ body, args, block });

    // The block is closed once, at its end, and its attributes are those that it has without arguments.
    expect(countOf(block.toLowerCase(), '</skill-loaded'), shown).toBe(1);
    expect(countOf(block.toLowerCase(), '</plugin-instructions'), shown).toBe(0);
    expect(head.replace(/args="[^"<>]*"/, 'args=""'), shown).toBe(
      `<skill-loaded name="a" trigger="user-slash" source="project" dir="${DIR}" args="">\n`,
    );
    // Each `<` and `>` inside is one of the body.
    expect(countOf(inner, '<'), shown).toBeLessThanOrEqual(countOf(body, '<'));
    expect(countOf(inner, '>'), shown).toBeLessThanOrEqual(countOf(body, '>'));
    // Values of placeholders are inserted at most as often as the body names them.
    expect(countOf(inner, DIR), shown).toBeLessThanOrEqual(countOf(body, '${SERVICE_SKILL_DIR}'));
    expect(countOf(inner, SESSION), shown).toBeLessThanOrEqual(countOf(body, '${SERVICE_SESSION_ID}'));
  }
});

it('arguments come out as text, wherever they are inserted', () => {
  const random = seeded(42);
  const unescaped = (escaped: string) =>
    escaped.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
  for (let run = 0; run < RUNS; run += 1) {
    const args = text(random, 10);
    if (args.trim() === '') continue;
    const words = splitArguments(args);
    const body = '[$ARGUMENTS][$0][$ARGUMENTS[1]]';
    const block = expandSkill(testSkill('a', { body }), { args, sessionId: SESSION, trigger: 'model-tool' }).text;
    const inner = block.slice(block.indexOf('>\n') + 2, -'\n</skill-loaded>'.length);
    expect(unescaped(inner)).toBe(`[${args}][${words[0] ?? ''}][${words[1] ?? ''}]`);
  }
});
