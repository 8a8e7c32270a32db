/** Hooks that no operation waits for: their concurrency, and their cancellation. */
import { expect, it } from 'vitest';
import { createHookRuns, MAX_TOLD } from '#server/features/hooks/hook-runs.ts';
import type { HookCall, Hooks } from '#server/hooks/hooks.ts';
import { event } from '#server/journal/records.ts';
import { openTalk, scriptedModel } from '#support/agent-session.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();

/** Hooks that run until they are killed. */
async function hanging() {
  const running = new Set<HookCall>();
  const hooks: Hooks = {
    wanted: () => true,
    run: (call) =>
      new Promise((resolve) => {
        running.add(call);
        const end = () => {
          running.delete(call);
          resolve({ texts: [] });
        };
        call.signal.addEventListener('abort', end, { once: true });
      }),
  };
  const talk = await openTalk({ dir: folder.path, features: [], services: scriptedModel().services });
  const runs = createHookRuns(talk.session.context, hooks);
  const tell = (agentId = 'main') => runs.tell(agentId, 'PostToolUse', 'Bash', () => ({ match: 'Bash', fields: {} }));
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { talk, runs, running, tell, settled };
}

it('at most `MAX_TOLD` run; further ones are dropped, which is reported', async () => {
  const { talk, runs, running, tell, settled } = await hanging();
  for (let n = 0; n < MAX_TOLD + 3; n += 1) tell();
  await settled();
  expect(running.size).toBe(MAX_TOLD);
  expect(talk.reports.filter((report) => report.includes('were left out'))).toHaveLength(3);
  await runs.close();
  expect(running.size).toBe(0);
  tell();
  await settled();
  expect(running.size).toBe(0);
  await talk.close();
});

it('an aborted turn kills those of its agent, a completed one none, the end of the session all', async () => {
  const { talk, runs, running, tell, settled } = await hanging();
  runs.listen();
  const turn = async (agent: string, reason: 'cancelled' | 'completed') => {
    talk.log.append([event(agent, 'turn.started', { turnId: 0, origin: { kind: 'user' } })]);
    tell(agent);
    await settled();
    talk.log.append([event(agent, 'turn.ended', { turnId: 0, reason, durationMs: 1 })]);
  };
  const told = () => [...running].filter(({ event: what }) => what === 'PostToolUse');
  await turn('agent-1', 'completed');
  expect(told()).toHaveLength(1);
  await turn('main', 'cancelled');
  await settled();
  expect(told()).toHaveLength(1);
  await runs.close();
  expect(running.size).toBe(0);
  await talk.close();
});
