import { expect, it } from 'vitest';
import { maskRaw } from '#server/config/mask.ts';
import { resolveFlags } from '#server/config/flags.ts';
import { filePath, sectionToFile, sectionToWire } from '#server/config/key-case.ts';

it('converts members and preserves names, both ways', () => {
  const file = {
    a_b: {
      api_key: 'k',
      custom_headers: { 'X-My_h': '1' },
      env: { A_b: '2' },
      source: { apiKey: 'x', some_key: 1 },
      oauth: { oauth_host: 'h' },
    },
    env: { base_url: 'an id like a member' },
  };
  const wire = {
    a_b: {
      apiKey: 'k',
      customHeaders: { 'X-My_h': '1' },
      env: { A_b: '2' },
      source: { apiKey: 'x', some_key: 1 },
      oauth: { oauthHost: 'h' },
    },
    env: { baseUrl: 'an id like a member' },
  };
  expect({ ...Object(sectionToWire('providers', file)) }).toEqual(wire);
  expect(sectionToFile('providers', wire)).toEqual(file);
  expect(sectionToWire('secondary_model', { default_model: 'a_b', models: { 'p_q/z': '' } })).toEqual({
    defaultModel: 'a_b',
    models: { 'p_q/z': '' },
  });
  expect(sectionToFile('loop_control', { max_steps_per_turn: 1, maxStepsPerTurn: 2 })).toEqual({
    max_steps_per_turn: 2,
  });
});

it('reports the path of a problem in file spelling', () => {
  expect(filePath('models', ['acme/Large', 'displayName'])).toBe('models.acme/Large.display_name');
  expect(filePath('services', ['search', 'customHeaders', 'X-Y'])).toBe('services.search.custom_headers.X-Y');
  expect(filePath('hooks', [0, 'event'])).toBe('hooks.0.event');
});

it('masks secrets of the raw file at any depth', () => {
  const raw = {
    deep: [{ 'X-Api-Key': 's', access_token: 't', client_secret: 'u', note: 'shown', empty_token: '' }],
    headers: { accept: 'v' },
    apiKeyName: 'shown',
    when: new Date(0),
    big: 12n,
  };
  expect(maskRaw(raw)).toEqual({
    deep: [{ 'X-Api-Key': '***', access_token: '***', client_secret: '***', note: 'shown', empty_token: '' }],
    headers: { accept: '***' },
    apiKeyName: 'shown',
    when: '1970-01-01T00:00:00.000Z',
    big: 12,
  });
});

it('resolves flags: all, own variable, table, default', () => {
  expect(resolveFlags({}, { 'tool-select': true, unknown: true })).toEqual({
    'tool-select': true,
    wait_for: true,
    'secondary-model': false,
    subagent_fork: false,
    auto_session_title: false,
    session_read_model: true,
  });
  const own = { SERVICE_CODE_EXPERIMENTAL_WAIT_FOR: 'off', SERVICE_CODE_EXPERIMENTAL_SECONDARY_MODEL: 'ON' };
  expect(resolveFlags(own)).toMatchObject({ wait_for: false, 'secondary-model': true });
  expect(Object.values(resolveFlags({ ...own, SERVICE_CODE_EXPERIMENTAL_FLAG: '1' }))).not.toContain(false);
});
