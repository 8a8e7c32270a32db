/** Property: expansion gives no tag, and no value of a placeholder, that neither the body nor a value had. */
import { expect, it } from 'vitest';
import { expandSkill, splitArguments } from '#server/skills/expand.ts';
import { integer, pick, seeded, type Random } from '#support/random.ts';
import { testSkill } from '#support/skills.ts';

const RUNS = 3000;
const DIR = '/folder-of-the-skill';
const SESSION = 'session-of-the-skill';

/** The opening tag with empty arguments. */
const HEAD = `<skill-loaded name="a" trigger="user-slash" source="project" dir="${DIR}" args="">\n`;
const ALL_HOLD = {
  closedOnce: true,
  noInstructionsClosed: true,
  attributesUnchanged: true,
  tagsOfBody: true,
  valuesOfBody: true,
};

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
    const most = (part: string, inBody = part) => countOf(inner, part) <= countOf(body, inBody);

    const holds = {
      closedOnce: countOf(block.toLowerCase(), '</skill-loaded') === 1,
      noInstructionsClosed: countOf(block.toLowerCase(), '</plugin-instructions') === 0,
      attributesUnchanged: head.replace(/args="[^"<>]*"/, 'args=""') === HEAD,
      tagsOfBody: most('<') && most('>'),
      valuesOfBody: most(DIR, '${SERVICE_SKILL_DIR}') && most(SESSION, '${SERVICE_SESSION_ID}'),
    };
    expect({ body, args, block, ...holds }).toEqual({ body, args, block, ...ALL_HOLD });
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
