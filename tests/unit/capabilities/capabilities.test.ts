import { describe, expect, it } from 'vitest';
import type { Capability, Detection } from '#server/capabilities/capability.ts';
import { createCapabilities, DETECTION_MS } from '#server/capabilities/capabilities.ts';
import { FAILURE_MAX_CHARS } from '#server/capabilities/installs.ts';
import { shippedCapabilities } from '#server/capabilities/shipped.ts';
import { createLogger } from '#server/logging/log.ts';
import type { CapabilityInstall, CapabilityStep } from '#schema/rest/capability.ts';
import { fakeCapability, type FakeCapability } from '#support/capabilities.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually, until } from '#support/patience.ts';

function service(...table: Capability[]) {
  const clock = manualClock(0);
  const events: { at: number; id: string; install: CapabilityInstall }[] = [];
  const lines: string[] = [];
  const capabilities = createCapabilities({
    table,
    publish: (id, install) => events.push({ at: clock.now(), id, install }),
    clock,
    log: createLogger('warn', (line) => lines.push(line)),
  });
  return { capabilities, clock, events, lines };
}

const neverSettles = () => new Promise<never>(() => undefined);

/** Starts an installation of the only capability and returns its controls. */
async function started(fake: FakeCapability) {
  const parts = service(fake);
  const status = await parts.capabilities.install(fake.id);
  const install = await until(() => fake.installs.at(-1));
  return { ...parts, status, install };
}

describe('the state of a capability', () => {
  const ok: CapabilityStep = { id: 'a', state: 'ok' };
  const missing: CapabilityStep = { id: 'b', state: 'missing' };
  const failed: CapabilityStep = { id: 'c', state: 'failed', detail: 'no answer' };
  const extra: CapabilityStep = { id: 'd', state: 'missing', optional: true };
  const extraOk: CapabilityStep = { id: 'e', state: 'ok', optional: true };

  it.each([
    ['ready', 'all required steps are ok', [ok, extra]],
    ['partial', 'a required step is missing', [ok, missing]],
    ['partial', 'only an optional step is ok', [missing, extraOk]],
    ['not_installed', 'no step is ok', [missing, failed, extra]],
  ] as const)('is %s when %s', async (state, _when, steps) => {
    const { capabilities } = service(fakeCapability('fake', async () => ({ version: '1.2', steps })));
    expect(await capabilities.get('fake')).toEqual({
      id: 'fake',
      displayName: 'Fake fake',
      description: 'Does nothing.',
      supported: true,
      state,
      version: '1.2',
      steps,
      install: { running: false },
    });
  });

  it('is detected by each call again', async () => {
    let steps: CapabilityStep[] = [missing];
    const { capabilities } = service(fakeCapability('fake', async () => ({ steps })));
    expect((await capabilities.get('fake')).state).toBe('not_installed');
    steps = [ok];
    expect((await capabilities.get('fake')).state).toBe('ready');
  });

  it('is `unsupported`, without steps and version, for the shipped capabilities', async () => {
    const { capabilities, events } = service(...shippedCapabilities);
    expect(await capabilities.list()).toMatchObject([
      { id: 'service-cu', pluginId: 'service-cu', displayName: expect.stringMatching(/^Service Computer Use/) },
      { id: 'service-webbridge', pluginId: 'service-webbridge', displayName: 'Service WebBridge' },
    ]);
    for (const status of await capabilities.list()) {
      expect(status).toMatchObject({ supported: false, state: 'unsupported', steps: [], install: { running: false } });
      expect(status).not.toHaveProperty('version');
      const refused = capabilities.install(status.id);
      await expect(refused).rejects.toMatchObject({
        code: 40925,
        message: `Capability "${status.id}" is not supported on ${process.platform}/${process.arch}`,
      });
    }
    expect(events).toEqual([]);
  });
});

describe('a detection that fails', () => {
  const throwing: Capability = {
    ...fakeCapability('throws'),
    installer: {
      detect() {
        throw new Error('no launchctl');
      },
      install: neverSettles,
    },
  };
  const step = { id: 'detect', state: 'failed', detail: 'no launchctl' };

  it('is a failed step in the list, where the others are complete', async () => {
    const { capabilities } = service(throwing, fakeCapability());
    expect(await capabilities.list()).toMatchObject([
      { id: 'throws', supported: true, state: 'not_installed', steps: [step] },
      { id: 'fake', state: 'not_installed', steps: [{ id: 'program', state: 'missing' }] },
    ]);
  });

  it('fails the single read', async () => {
    await expect(service(throwing).capabilities.get('throws')).rejects.toMatchObject({
      code: 50001,
      message: 'no launchctl',
    });
  });

  it('fails the reply to an install, which runs nevertheless', async () => {
    const fake = fakeCapability('fake', () => Promise.reject(new Error('no launchctl')));
    const { capabilities } = service(fake);
    await expect(capabilities.install('fake')).rejects.toMatchObject({ code: 50001, message: 'no launchctl' });
    expect(fake.installs).toHaveLength(1);
    await expect(capabilities.install('fake')).rejects.toMatchObject({ code: 40924 });
  });

  it('is cut off at the time limit, and its signal aborted', async () => {
    const signals: AbortSignal[] = [];
    const hanging = fakeCapability('hangs', (signal) => {
      signals.push(signal);
      return neverSettles();
    });
    const { capabilities, clock } = service(hanging, fakeCapability());
    const listed = capabilities.list();
    await until(() => signals[0]);
    clock.advance(DETECTION_MS - 1);
    expect(signals[0]?.aborted).toBe(false);
    clock.advance(1);
    expect(signals[0]?.aborted).toBe(true);
    expect(await listed).toMatchObject([
      { id: 'hangs', state: 'not_installed', steps: [{ id: 'detect', detail: 'The detection took more than 5 s' }] },
      { id: 'fake' },
    ]);
    expect(clock.waits()).toEqual([]);
  });

  it('has a bounded text', async () => {
    const { capabilities } = service(fakeCapability('fake', () => Promise.reject(new Error('x'.repeat(100_000)))));
    const [status] = await capabilities.list();
    expect(status?.steps[0]?.detail).toBe('x'.repeat(FAILURE_MAX_CHARS));
  });
});

it('detects all capabilities concurrently', async () => {
  let running = 0;
  const detect = () =>
    new Promise<Detection>((resolve) => {
      running += 1;
      void until(() => running === 3).then(() => resolve({ steps: [] }));
    });
  const { capabilities } = service(...['a', 'b', 'c'].map((id) => fakeCapability(id, detect)));
  expect((await capabilities.list()).map(({ id }) => id)).toEqual(['a', 'b', 'c']);
});

it('does not know an id in other letters', async () => {
  const { capabilities } = service(fakeCapability());
  for (const call of [capabilities.get, capabilities.install]) {
    await expect(call('Fake')).rejects.toMatchObject({
      code: 40418,
      message: 'Capability "Fake" is not registered',
    });
  }
});

describe('an installation', () => {
  it('runs in the background, with its progress in the status and in events', async () => {
    const { capabilities, clock, events, status, install } = await started(fakeCapability());
    expect(status.install).toEqual({ running: true });
    const state = async () => (await capabilities.get('fake')).install;
    install.report({ step: 'download' });
    expect(await state()).toEqual({ running: true, step: 'download' });
    install.report({ percent: 12.7 });
    expect(await state()).toEqual({ running: true, step: 'download', percent: 12 });
    install.report({ step: 'download' });
    expect(await state()).toEqual({ running: true, step: 'download', percent: 12 });
    clock.advance(100);
    install.report({ step: 'unpack' });
    expect(await state()).toEqual({ running: true, step: 'unpack' });
    clock.advance(100);
    install.succeed({ note: 'user-skill-migrated' });
    await eventually(async () => expect(await state()).toEqual({ running: false, note: 'user-skill-migrated' }));
    clock.advance(100);
    expect(events.map(({ install: sent }) => sent)).toEqual([
      { running: true },
      { running: true, step: 'download', percent: 12 },
      { running: true, step: 'unpack' },
      { running: false, note: 'user-skill-migrated' },
    ]);
  });

  it.each([
    [100, 99],
    [99.9, 99],
    [1e9, 99],
    [-3, 0],
    [Number.NaN, undefined],
    [Infinity, 99],
  ])('reports %d percent as %s before its end', async (percent, shown) => {
    const { capabilities, install } = await started(fakeCapability());
    install.report({ step: 'download', percent });
    expect((await capabilities.get('fake')).install.percent).toBe(shown);
  });

  it('ends with the text of its failure, bounded, which the next one removes', async () => {
    const fake = fakeCapability();
    const { capabilities, events, clock, lines, install } = await started(fake);
    install.report({ step: 'download', percent: 40 });
    install.fail(new Error(`no space${'.'.repeat(100_000)}`));
    const failed = await until(async () => {
      const state = (await capabilities.get('fake')).install;
      return !state.running && state;
    });
    expect(failed).toEqual({ running: false, error: expect.stringMatching(/^no space\.+$/) });
    expect(failed.error).toHaveLength(FAILURE_MAX_CHARS);
    clock.advance(100);
    expect(events.at(-1)?.install).toEqual(failed);
    expect(lines).toHaveLength(1);
    expect((await capabilities.install('fake')).install).toEqual({ running: true });
  });

  it('that throws instead of returning a promise has failed before the reply', async () => {
    const { installer } = fakeCapability();
    const install = () => {
      throw new Error('no program');
    };
    const { capabilities } = service({ ...fakeCapability(), installer: { ...installer, install } });
    expect((await capabilities.install('fake')).install).toEqual({ running: false, error: 'no program' });
  });

  it('is refused while one of the same capability runs, and not by one of another', async () => {
    const { capabilities } = service(fakeCapability('a'), fakeCapability('b'));
    await capabilities.install('a');
    await expect(capabilities.install('a')).rejects.toMatchObject({
      code: 40924,
      message: 'Capability "a" is already being installed',
    });
    expect((await capabilities.install('b')).install).toEqual({ running: true });
    const states = (await capabilities.list()).map(({ install }) => install.running);
    expect(states).toEqual([true, true]);
  });

  it('starts a single time for concurrent requests', async () => {
    const fake = fakeCapability();
    const { capabilities } = service(fake);
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => capabilities.install('fake')));
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(fake.installs).toHaveLength(1);
  });

  it('publishes at most ten of 10,000 reports a second, and always the last', async () => {
    const { capabilities, clock, events, install } = await started(fakeCapability());
    for (let n = 0; n < 10_000; n += 1) {
      install.report({ step: `file ${n}`, percent: n % 100 });
      if (n % 10 === 9) clock.advance(1);
    }
    install.succeed();
    await until(async () => !(await capabilities.get('fake')).install.running);
    clock.advance(1000);
    expect(events.length).toBeGreaterThan(8);
    for (const { at } of events) {
      const within = events.filter((event) => event.at >= at && event.at < at + 1000);
      expect(within.length).toBeLessThanOrEqual(10);
    }
    expect(events.at(-1)?.install).toEqual({ running: false });
    expect(events.at(-2)?.install).toEqual({ running: true, step: 'file 9999', percent: 99 });
    expect(clock.waits()).toEqual([]);
  });

  it('publishes nothing for a report without a change', async () => {
    const { clock, events, install } = await started(fakeCapability());
    install.report({ step: 'download', percent: 3.2 });
    clock.advance(100);
    install.report({ percent: 3.9 });
    clock.advance(1000);
    expect(events).toHaveLength(2);
  });

  it('cannot be changed by reports after its end', async () => {
    const fake = fakeCapability();
    const { capabilities, install } = await started(fake);
    install.succeed();
    await until(async () => !(await capabilities.get('fake')).install.running);
    install.report({ step: 'late' });
    expect((await capabilities.get('fake')).install).toEqual({ running: false });
    await capabilities.install('fake');
    install.report({ step: 'late' });
    expect((await capabilities.get('fake')).install).toEqual({ running: true });
  });

  it('that never ends is aborted by a stop, which waits for nothing and publishes nothing more', async () => {
    const { capabilities, clock, events, lines, install } = await started(fakeCapability());
    install.report({ step: 'download', percent: 5 });
    capabilities.close();
    expect(install.signal.aborted).toBe(true);
    install.report({ percent: 6 });
    install.fail(new Error('killed'));
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(1000);
    expect(events.map((event) => event.install)).toEqual([{ running: true }]);
    expect(lines).toEqual([]);
    expect(clock.waits()).toEqual([]);
  });

  it('does not start after a stop', async () => {
    const fake = fakeCapability();
    const { capabilities } = service(fake);
    capabilities.close();
    await capabilities.install('fake');
    expect(fake.installs).toEqual([]);
  });
});
