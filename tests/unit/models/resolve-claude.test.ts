import { expect, it } from 'vitest';
import { inferClaude } from '#server/models/claude.ts';
import { modelCapabilities } from '#server/models/capabilities.ts';

const budget = ['low', 'medium', 'high'];
const adaptive = [...budget, 'max'];
const newest = [...budget, 'xhigh', 'max'];

it.each<[string, string[] | undefined, string | undefined]>([
  ['claude-3-5-sonnet-20241022', budget, 'thinking'],
  ['claude-3-haiku', budget, 'thinking'],
  ['claude-opus-4-5-20251101', budget, 'thinking'],
  ['anthropic/claude-sonnet-4.5', budget, 'thinking'],
  ['claude-opus-4_6', adaptive, 'thinking'],
  ['claude-sonnet-4-6', adaptive, 'thinking'],
  ['claude-opus-4-7', newest, 'thinking'],
  ['claude-sonnet-5', newest, 'thinking'],
  ['claude-fable-5', newest, 'always_thinking'],
  ['claude-mythos-preview', adaptive, 'always_thinking'],
  ['gpt-5', undefined, undefined],
])('%s', (name, efforts, capability) => {
  const record = inferClaude({}, name, 'openai', 'openai');
  expect(record.supportEfforts).toEqual(efforts);
  expect(record.capabilities).toEqual(capability && [capability]);
  expect(record.defaultEffort).toBe(efforts && 'high');
});

it('keeps declared values; an unknown Claude is treated as the newest over its own wire only', () => {
  expect(
    inferClaude({ supportEfforts: ['low'], capabilities: ['Thinking'] }, 'claude-opus-4-6', 'anthropic', 'anthropic'),
  ).toEqual({
    supportEfforts: ['low'],
    capabilities: ['Thinking'],
  });
  expect(inferClaude({ adaptiveThinking: false }, 'claude-opus-4-6', 'anthropic', 'anthropic').supportEfforts).toEqual(
    budget,
  );
  expect(inferClaude({}, 'claude-next', 'anthropic', 'anthropic').supportEfforts).toEqual(newest);
  expect(inferClaude({}, 'claude-next', 'anthropic', 'native')).toEqual({});
  expect(inferClaude({}, 'claude-next', 'openai', 'openai')).toEqual({});
});

it('detection only adds, always_thinking implies thinking', () => {
  expect(modelCapabilities('unknown', ['Always_Thinking', 'custom'])).toEqual(
    new Set(['always_thinking', 'custom', 'thinking']),
  );
  expect(modelCapabilities('gemini-3-pro')).toContain('video_in');
});
