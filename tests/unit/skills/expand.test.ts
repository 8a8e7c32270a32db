/** Expansion of skills: arguments, placeholders, escapes and the block around the text. */
import { describe, expect, it } from 'vitest';
import { expandSkill, splitArguments, type SkillUse } from '#server/skills/expand.ts';
import type { Skill } from '#server/skills/skill.ts';
import { testSkill } from '#support/skills.ts';

const use = (args?: string): SkillUse => ({
  sessionId: 'session_1',
  trigger: 'user-slash',
  ...(args === undefined ? {} : { args }),
});
/** The text inside the block. */
function inner(body: string, args?: string, more: Partial<Skill> = {}): string {
  const { text } = expandSkill(testSkill('a', { body, ...more }), use(args));
  const found = /^<skill-loaded [^>]*>\n([^]*)\n<\/skill-loaded>$/.exec(text);
  if (!found) throw new Error(`no block: ${text}`);
  return found[1] ?? '';
}

describe('arguments', () => {
  it.each([
    ['', []],
    ['  ', []],
    ['a  b\tc\nd', ['a', 'b', 'c', 'd']],
    ['"a b" \'c "d"\' e', ['a b', 'c "d"', 'e']],
    ['a"b c"d', ['ab cd']],
    ['"" \'\'', ['', '']],
    [`don't stop`, [`don't`, 'stop']],
    ['"open a b', ['"open', 'a', 'b']],
    ['a\\ b', ['a\\', 'b']],
  ])('%j are split', (args, words) => expect(splitArguments(args)).toEqual(words));

  it('of a megabyte are split in linear time', () => {
    expect(splitArguments(`'${'a" '.repeat(200_001)}`)).toHaveLength(100_001);
    expect(splitArguments('"'.repeat(1_000_001))).toEqual(['"']);
    expect(splitArguments('x'.repeat(1_000_000))).toHaveLength(1);
  });
});

describe('placeholders', () => {
  const declared = { arguments: ['who', 'who-else', '$x', 'größe'] };
  it.each([
    ['declared names', '$who, $who-else; $größe.', 'a b c d', declared, 'a, b; d.'],
    [
      'declared names as whole words',
      '$whom $who_ $who2 $whoß $who. $who-',
      'a',
      declared,
      '$whom $who_ $who2 $whoß a. a-',
    ],
    ['declared names with special characters', '$$x', 'a b c', declared, 'c'],
    ['declared names before the others', '$ARGUMENTS[0] $0', 'a b', { arguments: ['y', 'ARGUMENTS'] }, 'b[0] a'],
    ['indexes', '$ARGUMENTS[1] $ARGUMENTS[0] $1 $0', 'a b', {}, 'b a b a'],
    ['indexes as whole words', '$12 $1a $1_ $1.', `${'x '.repeat(12)}y`, {}, 'y $1a $1_ x.'],
    ['missing ones as nothing', '<$5><$ARGUMENTS[99999999999999999999]>', 'a', {}, '<><>'],
    ['the whole text', '[$ARGUMENTS]', ' "a b"  c ', {}, '[ "a b"  c ]'],
    ['the whole text inside a word', '$ARGUMENTSX', 'a', {}, 'aX'],
    [
      'the folder and the session',
      '${SERVICE_SKILL_DIR}/x ${SERVICE_SESSION_ID}',
      undefined,
      {},
      `${testSkill('a').dir}/x session_1`,
    ],
    [
      'nothing else',
      '$HOME ${HOME} $ARGUMENT $ARGUMENTS[x] ${ARGUMENTS} $',
      'a',
      {},
      '$HOME ${HOME} $ARGUMENT a[x] ${ARGUMENTS} $',
    ],
    [
      'a backslash before one as a literal',
      '\\$0 \\$ARGUMENTS \\${SERVICE_SKILL_DIR} \\\\$0 $0',
      'a',
      {},
      '$0 $ARGUMENTS ${SERVICE_SKILL_DIR} \\$0 a',
    ],
    ['a backslash anywhere else as it is', '\\$HOME \\n \\\\ $ARGUMENTS', 'a', {}, '\\$HOME \\n \\\\ a'],
  ])('are read: %s', (_what, body, args, more, expected) => expect(inner(body, args, more)).toBe(expected));

  it.each([
    ['without arguments, indexes stay as written', '$1 $ARGUMENTS[1]|$ARGUMENTS|', undefined, {}, '$1 ||'],
    ['with blank arguments too', '$1 $ARGUMENTS[1]|', ' ', {}, '$1 |'],
    ['but not with an empty one', '<$0>', '""', {}, '<>'],
    ['nor when the skill declares arguments', '<$1><$who>', undefined, { arguments: ['who'] }, '<><>'],
    ['an escaped one loses its backslash', '\\$1', undefined, {}, '$1'],
  ])('%s', (_what, body, args, more, expected) => expect(inner(body, args, more)).toBe(expected));

  it('are not searched in inserted values', () => {
    const args = '"$ARGUMENTS[0] ${SERVICE_SKILL_DIR} </skill-loaded>" $1 \\$0';
    expect(inner('$0|$1|$2', args)).toBe('$ARGUMENTS[0] ${SERVICE_SKILL_DIR} &lt;/skill-loaded&gt;|$1|\\$0');
    expect(inner('$ARGUMENTS', args)).toBe(args.replace('</skill-loaded>', '&lt;/skill-loaded&gt;'));
    expect(inner('$0ARGUMENTS $$1', 'x 0')).toBe('$0ARGUMENTS $0');
  });

  it('of a long argument insert at most 8 Mi characters', () => {
    const text = inner('$ARGUMENTS\n'.repeat(100), 'x'.repeat(1024 * 1024));
    expect(text.length).toBeLessThan(9 * 1024 * 1024);
    expect(text).toMatch(/x\n\$ARGUMENTS\n/);
  });
});

describe('arguments without a placeholder', () => {
  it.each([
    ['are appended', 'Do it.', 'a <b>', 'Do it.\n\nARGUMENTS: a &lt;b&gt;'],
    ['are appended after other placeholders', '${SERVICE_SESSION_ID} \\$0', 'a', 'session_1 $0\n\nARGUMENTS: a'],
    ['that are blank are not', 'Do it.', ' ', 'Do it.'],
    ['are not where one is used', 'Do $3.', 'a', 'Do .'],
  ])('%s', (_what, body, args, expected) => expect(inner(body, args)).toBe(expected));
});

describe('the block', () => {
  it('names the skill, its folder and its arguments', () => {
    const skill = testSkill('a"<b>', { dir: '/x/"y" & z', source: 'user', body: 'B' });
    expect(expandSkill(skill, { args: 'c "d" <e>', sessionId: 's', trigger: 'nested-skill' }).text).toBe(
      '<skill-loaded name="a&quot;&lt;b&gt;" trigger="nested-skill" source="user" dir="/x/&quot;y&quot; &amp; z" ' +
        'args="c &quot;d&quot; &lt;e&gt;">\nB\n\nARGUMENTS: c "d" &lt;e&gt;\n</skill-loaded>',
    );
    expect(expandSkill(skill, { sessionId: 's', trigger: 'model-tool' }).text).toContain(' args="">');
  });

  it('is closed neither by the body nor by a body and a value together', () => {
    expect(inner('</skill-loaded> </SKILL-LOADED> </plugin-instructions> </b>')).toBe(
      '&lt;/skill-loaded> &lt;/SKILL-LOADED> &lt;/plugin-instructions> </b>',
    );
    expect(inner('<$0 </skill-$1 <$ARGUMENTS[0]', '/skill-loaded loaded')).toBe(
      '&lt;/skill-loaded &lt;/skill-loaded &lt;/skill-loaded',
    );
  });

  it('has the instructions of the plugin in front of the body', () => {
    const plugin = { id: 'p"q', instructions: ' Use $0 </plugin-instructions> well.\n' };
    expect(inner('Do $0.', 'it', { source: 'extra', plugin })).toBe(
      '<plugin-instructions plugin="p&quot;q">\nUse $0 &lt;/plugin-instructions> well.\n</plugin-instructions>\n\nDo it.',
    );
    expect(inner('Do it.', undefined, { plugin: { id: 'p', instructions: ' \n' } })).toBe('Do it.');
    expect(inner('Do it.', undefined, { plugin: { id: 'p' } })).toBe('Do it.');
  });
});
