/** Settings of features: their defaults, and what the configuration makes of them. */
import { expect, test } from 'vitest';
import { effectiveConfig } from '#server/config/effective.ts';
import type { StoredConfig } from '#server/config/stored.ts';
import { compactionSettings } from '#server/features/compaction/settings.ts';
import { cronSettings } from '#server/features/cron/settings.ts';
import { subagentTimeoutMs } from '#server/features/subagents/settings.ts';
import { swarmConcurrency } from '#server/features/swarm/settings.ts';

const effective = (stored: StoredConfig = {}, env: NodeJS.ProcessEnv = {}) => effectiveConfig(stored, env);

test('compaction', () => {
  expect(compactionSettings(effective())).toEqual({ triggerRatio: 0.85, reserved: undefined });
  const loopControl = { compactionTriggerRatio: 0.6, reservedContextSize: 1000 };
  expect(compactionSettings(effective({ loopControl }))).toEqual({ triggerRatio: 0.6, reserved: 1000 });
});

test('scheduled jobs', () => {
  const defaults = { disabled: false, jitter: true, stale: true, pollMs: 1000, debug: false };
  expect(cronSettings(effective())).toEqual(defaults);
  expect(cronSettings(effective({ cron: { pollIntervalMs: null } }))).toEqual(defaults);
  const cron = { disabled: true, noJitter: true, noStale: true, pollIntervalMs: 5, debug: true };
  expect(cronSettings(effective({ cron }))).toEqual({
    disabled: true,
    jitter: false,
    stale: false,
    pollMs: 5,
    debug: true,
  });
});

test('subagents', () => {
  expect(subagentTimeoutMs(effective())).toBe(7_200_000);
  expect(subagentTimeoutMs(effective({ subagent: { timeoutMs: 0 } }))).toBe(0);
});

test('swarms', () => {
  const withLimit = (text: string) =>
    swarmConcurrency(effective({}, { SERVICE_CODE_AGENT_SWARM_MAX_CONCURRENCY: text }));
  expect(swarmConcurrency(effective())).toBeUndefined();
  expect(withLimit(' ')).toBeUndefined();
  expect(withLimit(' 3 ')).toBe(3);
  for (const text of ['0', '-1', '1.5', '1e3', 'many']) {
    expect(() => withLimit(text)).toThrow(`must be a positive integer, not "${text}".`);
  }
});
