import { describe, expect, it } from 'vitest';
import type { CapabilityStatus } from '#schema/rest/capability.ts';
import type { MarketplaceEntry, PluginSummary } from '#schema/rest/plugin.ts';
import { ApiError, ConnectionError, type EventFrame } from '@service-code/client';
import { endsInstall, installLabel, progressText, withProgress } from '../../../web/features/plugins/capabilities.ts';
import {
  bringsOf,
  capabilityOf,
  installedText,
  matchingEntries,
  shownPlugins,
} from '../../../web/features/plugins/plugins.ts';
import { readMarket } from '../../../web/features/plugins/requests.ts';
import { globalEvents } from '../../../web/stores/global-events.ts';
import { createFakeSocket } from './fake-socket.ts';

const plugin = (over: Partial<PluginSummary> = {}): PluginSummary => ({
  id: 'notes',
  displayName: 'Notes',
  enabled: true,
  state: 'ok',
  skillCount: 0,
  mcpServerCount: 0,
  enabledMcpServerCount: 0,
  hookCount: 0,
  commandCount: 0,
  hasErrors: false,
  source: 'local-path',
  originalSource: '/notes',
  ...over,
});
const entry = (over: Partial<MarketplaceEntry> = {}): MarketplaceEntry => ({
  id: 'notes',
  tier: 'third-party',
  displayName: 'Notes',
  source: 'https://example.org/notes.zip',
  ...over,
});
const shown = (over: Partial<PluginSummary>, entries: MarketplaceEntry[] = []) =>
  shownPlugins([plugin(over)], entries)[0] ?? expect.fail();

describe('an installed plugin', () => {
  it.each([
    [{}, 'No skills, commands, hooks or MCP servers'],
    [{ skillCount: 1 }, '1 skill'],
    [{ skillCount: 3, commandCount: 1, hookCount: 2 }, '3 skills · 1 command · 2 hooks'],
    [{ mcpServerCount: 1, enabledMcpServerCount: 1 }, '1 MCP server'],
    [{ mcpServerCount: 2, enabledMcpServerCount: 1 }, '1 of 2 MCP servers'],
    [{ mcpServerCount: 1 }, '0 of 1 MCP server'],
  ])('brings %j as: %s', (counts, text) => {
    expect(bringsOf(plugin(counts))).toBe(text);
  });

  it.each([
    [{}, 'good', 'enabled', false],
    [{ enabled: false }, 'idle', 'disabled', false],
    [{ state: 'error', hasErrors: true }, 'bad', 'has errors', true],
    [{ state: 'error', hasErrors: true, enabled: false }, 'bad', 'disabled', true],
  ] as const)('%j is %s: %s', (over, tone, state, warns) => {
    const { tone: shownTone, state: shownState, warning } = shown(over);
    expect([shownTone, shownState, warning !== undefined]).toEqual([tone, state, warns]);
  });

  it('has its folder, address, or repository with the commit as origin', () => {
    expect(shown({}).origin).toBe('/notes');
    const github = { owner: 'a', repo: 'b', ref: { kind: 'tag', value: 'v1' }, installedSha: 'c'.repeat(40) } as const;
    expect(shown({ source: 'github', github }).origin).toBe(`a/b at v1 (${'c'.repeat(12)})`);
    expect(shown({ originalSource: undefined }).origin).toBe('local-path');
  });

  it('is updated from the catalog if that has a newer version, else from its origin', () => {
    const newer = entry({ version: '2.0', updateAvailable: true });
    const again = { source: '/notes', label: 'Update', isNewer: false };
    expect(shown({}, [entry({ id: 'x', updateAvailable: true }), newer]).update).toEqual({
      source: 'https://example.org/notes.zip',
      label: 'Update to 2.0',
      isNewer: true,
    });
    expect(shown({}, [entry()]).update).toEqual(again);
    expect(shown({}, [{ ...newer, source: 'capability:notes' }]).update).toEqual(again);
    expect(shown({ originalSource: undefined }).update).toBeUndefined();
  });
});

describe('an entry of the catalog', () => {
  it('reports the installed version', () => {
    expect(installedText(entry())).toBeUndefined();
    expect(installedText(entry({ installed: { enabled: true } }))).toBe('installed');
    expect(installedText(entry({ installed: { enabled: false, version: '1.0' } }))).toBe('installed 1.0, disabled');
  });

  it('is a capability by its source', () => {
    expect(capabilityOf(entry())).toBeUndefined();
    expect(capabilityOf({ source: 'capability:service-cu' })).toBe('service-cu');
  });

  it('is found by all words in any of its texts', () => {
    const entries = [
      entry({ keywords: ['Tasks'], description: 'Writes lists.' }),
      entry({ id: 'b', displayName: 'B' }),
    ];
    expect(matchingEntries(entries, ' ')).toBe(entries);
    expect(matchingEntries(entries, 'LIST task')).toEqual([entries[0]]);
    expect(matchingEntries(entries, 'third')).toEqual(entries);
    expect(matchingEntries(entries, 'list b')).toEqual([]);
  });
});

describe('the catalog', () => {
  const replying = (error: Error) =>
    readMarket({
      request() {
        throw error;
      },
    });
  const refusal = (message: string, status = 200) => new ApiError(50001, message, { status });

  it('is absent where none is configured, which is no failure', async () => {
    const message = 'Plugin marketplace is unreachable: no catalog is configured';
    expect(await replying(refusal(message))).toEqual({ kind: 'unconfigured' });
  });

  it('has a reason when it cannot be read', async () => {
    const message = 'Plugin marketplace is unreachable: time-out';
    expect(await replying(refusal(message))).toMatchObject({ kind: 'failed', error: { message } });
  });

  it('leaves other failures to the page', async () => {
    for (const error of [new ConnectionError('no reply'), refusal('Unauthorized', 401)]) {
      await expect(replying(error)).rejects.toBe(error);
    }
  });
});

describe('a capability', () => {
  const capability = (over: Partial<CapabilityStatus> = {}): CapabilityStatus => ({
    id: 'a',
    displayName: 'A',
    description: '',
    supported: true,
    state: 'not_installed',
    steps: [],
    install: { running: false },
    ...over,
  });
  const changed = (id: string, install: CapabilityStatus['install']): EventFrame => ({
    type: 'event.capability.changed',
    seq: 0,
    session_id: '__global__',
    timestamp: '',
    payload: {
      type: 'event.capability.changed',
      capability_id: id,
      install,
      agentId: 'main',
      sessionId: '__global__',
    },
    volatile: true,
  });
  const pluginChanged: EventFrame = {
    type: 'event.plugin.changed',
    seq: 1,
    session_id: '__global__',
    timestamp: '',
    payload: { type: 'event.plugin.changed', agentId: 'main', sessionId: '__global__' },
  };

  it('has the progress of the last event', () => {
    const known = [capability(), capability({ id: 'b' })];
    const install = { running: true, step: 'download', percent: 5 };
    expect(withProgress(known, changed('b', install))).toEqual([known[0], capability({ id: 'b', install })]);
    expect(withProgress(known, changed('unknown', install))).toEqual(known);
    expect(withProgress(known, pluginChanged)).toBe(known);
  });

  it('is detected again after the end of an installation and a change of the plugins', () => {
    expect(endsInstall(changed('a', { running: true, step: 'x' }))).toBe(false);
    expect(endsInstall(changed('a', { running: false, error: 'x' }))).toBe(true);
    expect(endsInstall(pluginChanged)).toBe(true);
  });

  it('is installed or updated only where it is supported', () => {
    expect(installLabel(capability())).toBe('Install');
    expect(installLabel(capability({ state: 'partial' }))).toBe('Install');
    expect(installLabel(capability({ state: 'ready' }))).toBe('Update');
    expect(installLabel(capability({ supported: false, state: 'unsupported' }))).toBeUndefined();
  });

  it('reports its progress in words', () => {
    expect(progressText({ running: true })).toBe('starting …');
    expect(progressText({ running: true, step: 'unpack' })).toBe('unpack …');
    expect(progressText({ running: true, step: 'download', percent: 0 })).toBe('download … 0 %');
  });

  it('is followed through all events and missed events of the global stream, until the end', () => {
    const { socket, send, emit } = createFakeSocket(() => Promise.reject(new Error('no request')));
    const seen: string[] = [];
    const stop = globalEvents(socket).listen({
      event: ({ type }) => seen.push(type),
      eventsMissed: () => seen.push('missed'),
    });
    const resync = (session_id: string) =>
      send({
        type: 'resync_required',
        timestamp: '',
        payload: { session_id, reason: 'buffer_overflow', current_seq: 7 },
      });
    emit(pluginChanged);
    resync('session_1');
    resync('__global__');
    expect(seen).toEqual(['event.plugin.changed', 'missed']);
    stop();
    emit(pluginChanged);
    resync('__global__');
    expect(seen).toHaveLength(2);
  });
});
