import { mkdtemp, readdir, readFile, readlink, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { systemClock, type Clock } from '#server/clock.ts';
import { CHANGE_WINDOW_MS } from '#server/config/changes.ts';
import { createConfig } from '#server/config/config.ts';
import { createConfigWriter, type ConfigWriter } from '#server/config/config-writer.ts';
import { subTable, tableOf } from '#server/config/document.ts';
import type { Config, ConfigDraft, MemoryTables } from '#server/config/config.ts';
import { createLogger } from '#server/logging/log.ts';
import { createChangeLock } from '#server/storage/change-lock.ts';
import { leaseHolder } from '#support/lease-holder.ts';
import { createRobbedLock } from '#support/robbed-lock.ts';
import { manualClock } from '#support/manual-clock.ts';
import { eventually } from '#support/patience.ts';

let home: string;
let config: Config | undefined;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'config-'));
});
afterEach(async () => {
  await config?.close();
  config = undefined;
  await rm(home, { recursive: true, force: true });
});

const path = () => join(home, 'config.toml');
const open = async (
  text: string | undefined,
  options: {
    memory?: MemoryTables;
    env?: NodeJS.ProcessEnv;
    clock?: Clock;
    robbed?: boolean;
    writer?: ConfigWriter;
  } = {},
) => {
  if (text !== undefined) await writeFile(path(), text);
  const { memory, env = {}, clock = systemClock, robbed = false, writer = createConfigWriter(home) } = options;
  const lockPath = `${path()}.lock`;
  config = await createConfig({
    home,
    env: () => env,
    log: createLogger('silent'),
    clock,
    lock: robbed
      ? createRobbedLock(lockPath, writer)
      : createChangeLock({ path: lockPath, holder: leaseHolder(), writer }),
    ...(memory && { memory }),
  });
  return config;
};

describe('the in-memory layer', () => {
  const memory: MemoryTables = {
    providers: { demo: { type: 'native', base_url: 'http://127.0.0.1:1/v1', api_key: 'k' } },
    models: { 'demo/demo': { provider: 'demo', model: 'demo', max_context_size: 10 } },
    default_model: 'demo/demo',
  };

  it('overrides file and environment and is never written', async () => {
    const { effective, patch } = await open('default_model = "mine"\n', { memory, env: { SERVICE_MODEL_NAME: 'env' } });
    expect(effective().defaultModel).toBe('demo/demo');
    expect(effective().providers.demo?.baseUrl).toBe('http://127.0.0.1:1/v1');
    await patch({
      default_model: 'x',
      providers: { demo: { type: 'openai' } },
      models: { 'demo/demo': null },
      telemetry: true,
    });
    expect(await readFile(path(), 'utf8')).toBe('default_model = "mine"\ntelemetry = true\n');
  });
});

it('leaves no temporary files and no readable secrets', async () => {
  const { patch } = await open(undefined);
  await patch({ providers: { a: { api_key: 'k' } } });
  expect(await readdir(home)).toEqual(['config.toml', 'config.toml.lock.1']);
  expect((await stat(path())).mode & 0o777).toBe(0o600);
});

describe('a text whose comments would be lost', () => {
  const text = 'providers.a.type = "openai" # mine\nproviders.b.type = "openai"\n';
  /** No in-place edit changes the order of dotted keys. */
  const reverse = ({ document }: ConfigDraft) => {
    document['providers'] = tableOf(Object.entries(subTable(document, 'providers') ?? {}).toReversed());
    document['telemetry'] = true;
  };

  it('is copied before it is replaced', async () => {
    const { update } = await open(text);
    await update(reverse);
    expect(await readFile(`${path()}.bak`, 'utf8')).toBe(text);
    expect(await readFile(path(), 'utf8')).not.toContain('# mine');
  });

  it('is neither replaced nor copied when another server took the lock while the process was suspended', async () => {
    const { update } = await open(text, { robbed: true });
    await expect(update(reverse)).rejects.toMatchObject({ code: 50003 });
    expect(await readdir(home)).toEqual(['config.toml', 'config.toml.lock.2']);
    expect(await readFile(path(), 'utf8')).toBe(text);
  });
});

it('refuses a change whose lock another server took while the process was suspended', async () => {
  const text = 'telemetry = true\n';
  const { patch, stored } = await open(text, { robbed: true });
  const before = stored();
  await expect(patch({ telemetry: false })).rejects.toMatchObject({ code: 40001 });
  expect(stored()).toEqual(before);
  expect(await readFile(path(), 'utf8')).toBe(text);
});

it('preserves hand edits that no watcher has reported yet', async () => {
  const { patch } = await open('a = 1\n');
  await writeFile(path(), 'a = 2 # by hand\n');
  await patch({ telemetry: false });
  expect(await readFile(path(), 'utf8')).toBe('a = 2 # by hand\ntelemetry = false\n');
});

it('a change that throws, or whose result would not load, has no effect on file and memory', async () => {
  const { update, stored } = await open('telemetry = true\n');
  await expect(
    update(({ document }) => {
      document.telemetry = false;
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await expect(update(({ document }) => void (document.telemetry = 'x'))).rejects.toMatchObject({ code: 50003 });
  expect(stored().telemetry).toBe(true);
  expect(await readFile(path(), 'utf8')).toBe('telemetry = true\n');
});

it('reports a failed write and continues with the next one', async () => {
  const { patch, update } = await open('telemetry = true\n');
  await rm(home, { recursive: true });
  await expect(update(({ document }) => void (document.telemetry = false))).rejects.toMatchObject({ code: 50003 });
  await expect(patch({ telemetry: false })).rejects.toMatchObject({ code: 40001, details: undefined });
});

it('reads the file again where a write failed after it was replaced', async () => {
  const real = createConfigWriter(home);
  const writer = {
    ...real,
    async write(text: string) {
      await real.write(text);
      throw new Error('EIO: i/o error, fsync');
    },
  };
  const { patch, effective } = await open('default_model = "a"\n', { writer });
  await expect(patch({ default_model: 'b' })).rejects.toMatchObject({ code: 40001 });
  expect(await readFile(path(), 'utf8')).toBe('default_model = "b"\n');
  expect(effective().defaultModel).toBe('b');
});

describe('a file that is a symbolic link', () => {
  const linked = async (text: string) => {
    const dotfiles = await mkdtemp(join(tmpdir(), 'dotfiles-'));
    onTestFinished(() => rm(dotfiles, { recursive: true, force: true }));
    const real = join(dotfiles, 'service-code.toml');
    await writeFile(real, text, { mode: 0o640 });
    await symlink(real, path());
    return real;
  };

  it('is written through, and its target retains its mode', async () => {
    const real = await linked('# mine\ntelemetry = true\n');
    const { patch } = await open(undefined);
    await patch({ telemetry: false });
    expect(await readlink(path())).toBe(real);
    expect(await readFile(real, 'utf8')).toBe('# mine\ntelemetry = false\n');
    expect((await stat(real)).mode & 0o777).toBe(0o640);
  });

  it('is watched at its target', async () => {
    const real = await linked('telemetry = true\n');
    const opened = await open(undefined);
    await writeFile(real, 'telemetry = false\n');
    await eventually(() => expect(opened.stored().telemetry).toBe(false));
  });
});

it('treats a deleted file as an empty one and reports the changes', async () => {
  const opened = await open('telemetry = true\n[thinking]\nenabled = false\n');
  const changes: string[][] = [];
  opened.onChanged(({ changedFields }) => changes.push(changedFields));
  await rm(path());
  await eventually(() => expect(changes).toEqual([['telemetry', 'thinking']]));
});

it('does not report a change that is reverted within the window, nor unknown keys', async () => {
  const clock = manualClock();
  const opened = await open('', { clock });
  const changes: string[][] = [];
  opened.onChanged(({ changedFields }) => changes.push(changedFields));
  await opened.patch({ telemetry: false });
  await opened.patch({ telemetry: null });
  await opened.update(({ document }) => void (document.unknown_key = 1));
  await opened.patch({ plan_mode: false });
  clock.advance(CHANGE_WINDOW_MS);
  expect(changes).toEqual([['planMode']]);
  await opened.patch({ auto_session_title: true });
  await opened.patch({ telemetry: false });
  clock.advance(CHANGE_WINDOW_MS);
  expect(changes).toEqual([['planMode'], ['autoSessionTitle', 'telemetry']]);
});

it('drops a whole section for one invalid member and warns a single time', async () => {
  const opened = await open('[[hooks]]\nevent = "Stop"\ncommand = "x"\n[[hooks]]\nevent = "Nope"\ncommand = "x"\n');
  const lists: unknown[] = [];
  opened.onWarnings((list) => lists.push(list));
  expect(opened.effective().hooks).toBeUndefined();
  await opened.reload();
  expect(lists).toEqual([[{ domain: 'hooks', message: expect.stringContaining('hooks.1.event') }]]);
  await opened.patch({ hooks: null });
  expect(lists.at(-1)).toEqual([]);
});

it('ignores inherited properties', async () => {
  const opened = await open(undefined);
  await opened.patch(JSON.parse('{"providers":{"constructor":{"type":"openai"},"__proto__":{"type":"native"}}}'));
  expect(Object.keys(opened.effective().providers)).toContain('constructor');
  expect(opened.effective().providers.toString).not.toHaveProperty('type');
  expect(await readFile(path(), 'utf8')).toContain('[providers.constructor]');
});

it('reads the old spelling of a pool of one', async () => {
  const opened = await open('[secondary_model]\nmodel = "a/b"\nmax_context_size = 5\n');
  expect(opened.publicView().secondary_model).toEqual({ defaultModel: 'a/b', models: { 'a/b': '' } });
});

it('parses variables by their rules', async () => {
  const env: NodeJS.ProcessEnv = {
    SERVICE_LOOP_MAX_RETRIES_PER_STEP: '3',
    SERVICE_CODE_BACKGROUND_MAX_RUNNING_TASKS: '0',
    SERVICE_CODE_BACKGROUND_KEEP_ALIVE_ON_EXIT: ' Yes ',
    SERVICE_IMAGE_MAX_EDGE_PX: '1e3',
    SERVICE_CRON_DEBUG: 'true',
    SERVICE_DISABLE_CRON: '1',
    SERVICE_CRON_POLL_INTERVAL_MS: 'null',
    SERVICE_TOKEN_COUNTING_STRATEGY: 'guess',
    SERVICE_WEB_FETCH_API_KEY: 'new',
  };
  const opened = await open(
    '[services.fetch]\nbase_url = "http://f"\napi_key = "old"\n[services.fetch.oauth]\nstorage = "file"\nkey = "k"\n',
    { env },
  );
  const { loopControl, background, image, cron, tokenCounting, services } = opened.effective();
  expect(loopControl).toEqual({ maxAttemptsPerStep: 3 });
  expect(background).toEqual({ keepAliveOnExit: true });
  expect(image).toEqual({});
  expect(cron).toMatchObject({ debug: false, disabled: true, pollIntervalMs: null });
  expect(tokenCounting.strategy).toBe('measured+estimated');
  expect(services.fetch).toEqual({ baseUrl: 'http://f', apiKey: 'new' });
});

describe('changes for listeners', () => {
  it('have the file before and after; only the write itself has the origin of its writer', async () => {
    const { update, onSeen } = await open('default_model = "a"\n', { env: { SERVICE_MODEL_NAME: 'env' } });
    const origin = Symbol('writer');
    const seen: unknown[] = [];
    onSeen((change) => seen.push(change));
    await writeFile(path(), 'default_model = "a"\ntelemetry = true\n');
    await update(
      ({ document }) => void Object.assign(document, { default_model: 'b', auto_session_title: true }),
      undefined,
      origin,
    );
    const [edited, written] = [
      { defaultModel: 'a', telemetry: true },
      { defaultModel: 'b', telemetry: true, autoSessionTitle: true },
    ];
    expect(seen).toEqual([
      { fields: ['telemetry'], by: undefined, origin: undefined, before: { defaultModel: 'a' }, after: edited },
      // The default model in effect is that of the environment.
      { fields: ['autoSessionTitle'], by: undefined, origin, before: edited, after: written },
    ]);
  });
});
