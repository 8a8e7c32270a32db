/** The list of skills in the system prompt: groups, shortening, and its limit. */
import { describe, expect, it } from 'vitest';
import { LISTING_CHARS, skillListing } from '#server/skills/listing.ts';
import type { Skill } from '#server/skills/skill.ts';
import { testCatalog, testSkill } from '#support/skills.ts';

const listing = (...skills: Skill[]) => skillListing(testCatalog(...skills));
const many = (count: number, more: (index: number) => Partial<Skill>): Skill[] =>
  Array.from({ length: count }, (_, index) => testSkill(`skill-${String(index).padStart(4, '0')}`, more(index)));

/** Texts after name and path of all lines. */
const textsOf = (text: string) => [...text.matchAll(/^- .*?\)(?:: (.*))?$/gm)].map(([, shown = '']) => shown);

describe('the list', () => {
  it('has a group for each source with skills, ordered by name', () => {
    expect(
      listing(
        testSkill('b', { whenToUse: 'Often.' }),
        testSkill('A'),
        testSkill('u', { source: 'user', path: '/u/SKILL.md' }),
        testSkill('x', { source: 'extra', path: '/x.md' }),
        testSkill('p', { source: 'extra', path: '/p.md', plugin: { id: 'p' } }),
        testSkill('s', { source: 'builtin', path: 'builtin://s' }),
      ),
    ).toEqual({
      text: [
        '### Project',
        '- A (/project/.service-code/skills/A/SKILL.md): About A.',
        '- b (/project/.service-code/skills/b/SKILL.md): About b. When to use: Often.',
        '',
        '### User',
        '- u (/u/SKILL.md): About u.',
        '',
        '### Extra',
        '- p (/p.md): About p.',
        '- x (/x.md): About x.',
        '',
        '### Built-in',
        '- s (builtin://s): About s.',
      ].join('\n'),
    });
  });

  it('has only skills that the model may activate, and no nested ones', () => {
    expect(
      listing(
        testSkill('disabled', { disableModelInvocation: true }),
        testSkill('flow', { kind: 'flow' }),
        testSkill('reference', { kind: 'reference' }),
        testSkill('outer.nested', { nested: true }),
      ),
    ).toEqual({ text: '' });
    expect(listing(testSkill('enabled', { disableModelInvocation: false })).text).toContain('enabled');
  });

  it('is a line per skill, whatever its texts contain', () => {
    const { text } = listing(
      testSkill('a', {
        description: 'One.\n- fake (x): y\r\n\u2028### Built-in',
        whenToUse: 'Two.\n\n# Three',
        path: '/a\nb.md',
      }),
    );
    expect(text).toBe('### Project\n- a (/a b.md): One. - fake (x): y ### Built-in When to use: Two. # Three');
  });

  it('has at most 250 characters of a description, and the whole text on when to use it', () => {
    const texts = (description: string) =>
      textsOf(listing(testSkill('a', { description, whenToUse: 'w'.repeat(400) })).text);
    const whenToUse = ` When to use: ${'w'.repeat(400)}`;
    expect(texts('d'.repeat(250))).toEqual([`${'d'.repeat(250)}${whenToUse}`]);
    expect(texts('d'.repeat(251))).toEqual([`${'d'.repeat(249)}…${whenToUse}`]);
  });
});

describe('a list that is too long', () => {
  it('is not changed up to 24,000 characters', () => {
    const skills = (last: number) => [
      ...many(100, () => ({ description: 'd'.repeat(100) })),
      testSkill('z', { whenToUse: 'w'.repeat(last) }),
    ];
    const empty = listing(...skills(0)).text.length;
    const exact = listing(...skills(LISTING_CHARS - empty));
    expect(exact.text).toHaveLength(LISTING_CHARS);
    expect(exact.warning).toBeUndefined();
    const longer = listing(...skills(LISTING_CHARS - empty + 1));
    expect(longer.warning).toBeDefined();
    expect(longer.text.length).toBeLessThanOrEqual(LISTING_CHARS);
  });

  it('has all texts shortened to one length, the greatest that fits', () => {
    const skills = many(200, (index) => ({
      description: 'd'.repeat(index < 50 ? 20 : 240),
      whenToUse: 'w'.repeat(50),
    }));
    const { text, warning } = listing(...skills);
    const lengths = textsOf(text).map((shown) => shown.length);
    expect(lengths).toHaveLength(200);
    const longest = Math.max(...lengths);
    expect(new Set(lengths)).toEqual(new Set([longest]));
    expect(textsOf(text).every((shown) => shown.endsWith('…'))).toBe(true);
    expect(text.length).toBeLessThanOrEqual(LISTING_CHARS);
    expect(text.length + 200).toBeGreaterThan(LISTING_CHARS);
    expect(warning).toEqual({
      code: 'skill-listing-cut',
      message: `The list of 200 skills in the system prompt is too long: their descriptions are shortened to ${longest} characters.`,
      severity: 'warning',
    });
  });

  it('has short texts in full', () => {
    const skills = many(150, (index) => ({ description: index < 75 ? 'Short.' : 'd'.repeat(240) }));
    const texts = textsOf(listing(...skills).text);
    expect(texts.slice(0, 75)).toEqual(Array.from({ length: 75 }, () => 'Short.'));
    expect(texts[75]?.length).toBeGreaterThan(150);
  });

  it('without capacity for all names and paths lacks the skills of the lowest priority, the last paths first', () => {
    const skills = many(2000, (index) => ({
      source: index < 100 ? 'user' : 'extra',
      // Paths are in the reverse order of the names.
      path: `/skills/${String(5000 - index)}/SKILL.md`,
      ...(index >= 1000 ? { plugin: { id: 'p' } } : {}),
    }));
    const { text, warning } = listing(...skills);
    expect(text.length).toBeLessThanOrEqual(LISTING_CHARS);
    expect(text.length).toBeGreaterThan(LISTING_CHARS - 100);
    const shown = [...text.matchAll(/^- (\S+) /gm)].map(([, name]) => name);
    const omitted = 2000 - shown.length;
    expect(text).toMatch(new RegExp(`\n\n\\(${omitted} more skills are not listed\\.\\)$`));
    const expected = [
      ...skills.slice(0, 100),
      ...skills
        .slice(100, 1000)
        .toReversed()
        .slice(0, shown.length - 100)
        .toReversed(),
    ];
    expect(shown).toEqual(expected.map(({ name }) => name));
    expect(warning?.message).toMatch(
      new RegExp(`^The list of 2000 skills .* to \\d+ characters, and ${omitted} skills are left out\\.$`),
    );
  });
});
