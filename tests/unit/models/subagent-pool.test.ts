/** The models configured for subagents: valid and invalid pools. */
import { describe, expect, it } from 'vitest';
import { effectiveConfig } from '#server/config/effective.ts';
import { resolveFlags } from '#server/config/flags.ts';
import { subagentPool } from '#server/models/subagent-pool.ts';
import type { StoredConfig } from '#server/config/stored.ts';

const record = { model: 'x', baseUrl: 'http://127.0.0.1:1', protocol: 'openai' as const, maxContextSize: 1000 };
const models = { small: record, large: { ...record, aliases: ['big'] }, broken: { model: 'x' } };

function poolOf(secondaryModel: StoredConfig['secondaryModel'], on = true) {
  const stored: StoredConfig = { models, ...(secondaryModel ? { secondaryModel } : {}) };
  return subagentPool({
    effective: () => effectiveConfig(stored, {}),
    resolveFlags: () => resolveFlags({}, { 'secondary-model': on }),
  });
}

describe('the models of subagents', () => {
  it.each([
    ['nothing', undefined, undefined],
    ['an empty section', {}, undefined],
    ['an empty table', { models: {} }, undefined],
    [
      'a table, the default first',
      { defaultModel: 'big', models: { small: 'quick', big: 'thorough' } },
      {
        defaultModel: 'big',
        choices: new Map([
          ['big', 'thorough'],
          ['small', 'quick'],
        ]),
      },
    ],
    ['a default alone', { defaultModel: 'small' }, { defaultModel: 'small', choices: new Map([['small', '']]) }],
    ['the old member', { model: 'small' }, { defaultModel: 'small', choices: new Map([['small', '']]) }],
    ['a forced default', { defaultModel: 'small', models: {}, force: true }, { defaultModel: 'small' }],
    ['a forced old member', { model: 'small', force: true }, { defaultModel: 'small' }],
  ])('of %s', (_, section, pool) => {
    expect(poolOf(section)).toEqual(pool);
    const [first] = poolOf(section)?.choices?.keys() ?? [];
    if (first !== undefined) expect(first).toBe(pool?.defaultModel);
  });

  it.each([
    ['a choice that is forced', { defaultModel: 'small', models: { small: '' }, force: true }, 'force'],
    ['no default', { models: { small: '' } }, 'default_model is missing'],
    ['nothing to be forced', { force: true }, 'default_model is missing'],
    ['a default outside', { defaultModel: 'large', models: { small: '' } }, 'default_model large is not among models'],
    ['the reserved name', { defaultModel: 'small', models: { small: '', primary: '' } }, 'primary stands for'],
    ['the reserved name alone', { defaultModel: 'primary' }, 'primary stands for'],
    ['an alias that nobody has', { defaultModel: 'small', models: { small: '', gone: '' } }, 'model gone is not'],
    ['a member of every object', { defaultModel: 'constructor' }, 'model constructor is not'],
    ['a record that cannot be used', { defaultModel: 'broken' }, 'model broken has neither'],
    ['a forced one that nobody has', { defaultModel: 'gone', force: true }, 'model gone is not'],
  ])('is refused: %s', (_, section, why) => {
    expect(() => poolOf(section)).toThrow(why);
    expect(poolOf(section, false)).toBeUndefined();
  });
});
