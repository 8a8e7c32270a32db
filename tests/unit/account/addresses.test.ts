/** Region, addresses and slots by environment, stored login, `[cloud]`, marker and region. */
import { createHash } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import {
  addressesOf,
  loginAddressesOf,
  managedBaseUrl,
  regionOf,
  slotOfReference,
  type AddressInputs,
} from '#server/account/addresses.ts';
import { readCloudSettings } from '#server/account/cloud-settings.ts';
import { referenceOf, slotKey, slotName } from '#server/account/credential-slots.ts';
import { isPlaceholder, REGIONS, type Region } from '#server/account/regions.ts';

const CN = REGIONS['mainland-cn'];
const GLOBAL = REGIONS.global;
const DEFAULT = 'oauth/service-code';
const MANAGED = 'managed:service-code';

interface Given {
  env?: NodeJS.ProcessEnv;
  /** In file spelling after its conversion to wire spelling. */
  cloud?: Record<string, unknown>;
  managed?: NonNullable<AddressInputs['providers']>[string];
  marker?: string;
}

const inputs = ({ env = {}, cloud, managed, marker }: Given): AddressInputs => ({
  env,
  cloud: readCloudSettings(cloud),
  providers: managed && { [MANAGED]: managed },
  marker,
});

/** A stored login as a login writes it. */
const login = (oauthHost: string, baseUrl: string) => ({
  type: 'native' as const,
  baseUrl,
  oauth: referenceOf(oauthHost, baseUrl),
});
const cnLogin = login(CN.oauthHost, CN.baseUrl);
const globalLogin = login(GLOBAL.oauthHost, GLOBAL.baseUrl);
const ownLogin = login('https://own', 'https://own/managed/v1');

const hashed = (oauthHost: string, baseUrl: string) =>
  `oauth/service-code-env-${createHash('sha256').update(`{"oauthHost":"${oauthHost}","baseUrl":"${baseUrl}"}`).digest('hex').slice(0, 16)}`;

describe('the region', () => {
  const url = (SERVICE_CODE_CLOUD_URL: string) => ({ SERVICE_CODE_CLOUD_URL });
  const host = (SERVICE_CODE_OAUTH_HOST: string) => ({ SERVICE_CODE_OAUTH_HOST });
  const both = { url: 'https://own' };
  test.each<[string, Given, Region]>([
    ['nothing', {}, 'mainland-cn'],
    ['the marker', { marker: 'global' }, 'global'],
    ['the marker with white space', { marker: ' global\n' }, 'global'],
    ['an unknown marker', { marker: 'Global' }, 'mainland-cn'],
    ['a marker named like a member of objects', { marker: 'constructor' }, 'mainland-cn'],
    ['a marker that is switched off', { marker: 'global', env: { SERVICE_CODE_REGION_MARKER: 'off' } }, 'mainland-cn'],
    ['a blank switch', { marker: 'global', env: { SERVICE_CODE_REGION_MARKER: ' ' } }, 'global'],
    ['[cloud] region', { cloud: { region: 'global' } }, 'global'],
    ['an unknown [cloud] region', { cloud: { region: 'mars' } }, 'mainland-cn'],
    ['a marker before [cloud] region', { marker: 'mainland-cn', cloud: { region: 'global' } }, 'mainland-cn'],
    ['a pinned host', { env: host('https://auth.example.com/') }, 'global'],
    ['a pinned host by the older name', { env: { SERVICE_OAUTH_HOST: 'https://auth.example.com' } }, 'global'],
    ['the newer name first', { env: { ...host('https://x'), SERVICE_OAUTH_HOST: GLOBAL.oauthHost } }, 'mainland-cn'],
    ['a blank host variable', { env: host('  '), marker: 'global' }, 'global'],
    ['an unknown pinned host and a marker', { env: host('https://x'), marker: 'global' }, 'mainland-cn'],
    ['an unknown pinned host and a login', { env: host('https://x'), managed: globalLogin }, 'mainland-cn'],
    ['a pinned origin and a marker', { env: url('https://x'), marker: 'global' }, 'mainland-cn'],
    ['a pinned base URL alone', { env: { SERVICE_CODE_BASE_URL: 'https://x' }, marker: 'global' }, 'global'],
    ['a stored global login', { managed: globalLogin, marker: 'mainland-cn' }, 'global'],
    ['a login in the default slot', { managed: cnLogin, marker: 'global' }, 'mainland-cn'],
    ['a stored unknown host', { managed: ownLogin, marker: 'global' }, 'global'],
    ['a stored unknown host, [cloud] region', { managed: ownLogin, cloud: { region: 'global' } }, 'global'],
    ['a stored host of both profiles', { managed: ownLogin, cloud: both, marker: 'global' }, 'mainland-cn'],
    ['a stored host of both, [cloud] region', { managed: ownLogin, cloud: { ...both, region: 'global' } }, 'global'],
    ['a record without a login', { managed: { type: 'native' }, marker: 'global' }, 'global'],
  ])('by %s', (_what, given, expected) => {
    expect(regionOf(inputs(given))).toBe(expected);
  });
});

describe('the addresses of a login', () => {
  const cloudUrl = { SERVICE_CODE_CLOUD_URL: 'http://c/' };
  const pinnedHost = { SERVICE_CODE_OAUTH_HOST: 'http://h//' };
  const pinnedBase = { SERVICE_CODE_BASE_URL: ' http://b/v1/ ' };
  const cn = [CN.oauthHost, CN.baseUrl] as const;
  const global = [GLOBAL.oauthHost, GLOBAL.baseUrl] as const;
  const cloud = { url: 'https://u/' };
  const own = ['https://own', 'https://own/managed/v1'] as const;

  test.each<[string, Given & { region?: Region }, readonly [string, string]]>([
    ['a new home', {}, cn],
    ['the marker', { marker: 'global' }, global],
    ['a region', { region: 'global' }, global],
    ['a region and a marker', { region: 'mainland-cn', marker: 'global' }, cn],
    ['[cloud] region', { cloud: { region: 'global' } }, global],
    ['[cloud] url', { cloud }, ['https://u', 'https://u/managed/v1']],
    [
      'a single [cloud] address',
      { cloud: { ...cloud, oauthHost: 'https://o/' } },
      ['https://o', 'https://u/managed/v1'],
    ],
    ['a [cloud] base URL', { cloud: { baseUrl: 'https://o/v1/' } }, [CN.oauthHost, 'https://o/v1']],
    ['blank [cloud] members', { cloud: { url: ' ', oauthHost: '', baseUrl: '/' } }, cn],
    ['malformed [cloud] members', { cloud: { url: 5, oauthHost: ['x'] } }, cn],
    ['a region with [cloud] url', { cloud, region: 'global' }, ['https://u', 'https://u/managed/v1']],
    ['a pinned origin', { env: cloudUrl }, ['http://c', 'http://c/managed/v1']],
    ['a pinned origin and a region', { env: cloudUrl, region: 'global' }, ['http://c', 'http://c/managed/v1']],
    ['a pinned origin and a login', { env: cloudUrl, managed: globalLogin }, ['http://c', 'http://c/managed/v1']],
    ['a pinned origin and [cloud]', { env: cloudUrl, cloud }, ['http://c', 'http://c/managed/v1']],
    ['a pinned origin and host', { env: { ...cloudUrl, ...pinnedHost } }, ['http://h', 'http://c/managed/v1']],
    ['a pinned origin and base URL', { env: { ...cloudUrl, ...pinnedBase } }, ['http://c', 'http://b/v1']],
    ['a blank pinned origin', { env: { SERVICE_CODE_CLOUD_URL: ' ' }, marker: 'global' }, global],
    ['a pinned host', { env: pinnedHost }, ['http://h', CN.baseUrl]],
    ['a pinned host and a region', { env: pinnedHost, region: 'global' }, ['http://h', CN.baseUrl]],
    ['a pinned host and a login', { env: pinnedHost, managed: globalLogin }, ['http://h', GLOBAL.baseUrl]],
    ['a pinned known host', { env: { SERVICE_OAUTH_HOST: GLOBAL.oauthHost } }, global],
    ['a pinned base URL', { env: pinnedBase }, [CN.oauthHost, 'http://b/v1']],
    ['a pinned base URL and a marker', { env: pinnedBase, marker: 'global' }, [GLOBAL.oauthHost, 'http://b/v1']],
    ['a pinned base URL and a foreign login', { env: pinnedBase, managed: ownLogin }, [CN.oauthHost, 'http://b/v1']],
    ['a pinned base URL and a login', { env: pinnedBase, managed: globalLogin }, [GLOBAL.oauthHost, 'http://b/v1']],
    ['a pinned base URL and [cloud]', { env: pinnedBase, cloud }, ['https://u', 'http://b/v1']],
    ['a pinned host with a path', { env: { SERVICE_OAUTH_HOST: 'http://h/a/' } }, ['http://h/a', CN.baseUrl]],
    ['a stored login', { managed: globalLogin }, global],
    ['a stored login and [cloud]', { managed: globalLogin, cloud }, global],
    ['a stored default login and [cloud]', { managed: cnLogin, cloud }, cn],
    ['a stored default login and a marker', { managed: cnLogin, marker: 'global' }, cn],
    ['a stored login and its region', { managed: globalLogin, region: 'global' }, global],
    ['a stored login and another region', { managed: globalLogin, region: 'mainland-cn' }, cn],
    ['a stored own login', { managed: ownLogin }, own],
    ['a stored own login and a region', { managed: ownLogin, region: 'mainland-cn' }, cn],
    ['a stored login without addresses', { managed: { type: 'native', oauth: { storage: 'file', key: 'k' } } }, cn],
    [
      'a record without a login',
      { managed: { type: 'native', baseUrl: 'https://k/v1' } },
      [CN.oauthHost, 'https://k/v1'],
    ],
    [
      'a stored key of other addresses',
      { managed: { ...ownLogin, oauth: { ...ownLogin.oauth, key: 'oauth/old' } } },
      own,
    ],
  ])('by %s', (_what, { region, ...given }, [oauthHost, baseUrl]) => {
    const key = oauthHost === CN.oauthHost && baseUrl === CN.baseUrl ? DEFAULT : hashed(oauthHost, baseUrl);
    const found = loginAddressesOf(inputs(given), region);
    expect(found).toMatchObject({ oauthHost, baseUrl, reference: { storage: 'file', key } });
    expect(found.reference.oauthHost).toBe(key === DEFAULT ? undefined : oauthHost);
    // The record that a login writes is found again at run time, while nothing else changes.
    const after = inputs({ ...given, managed: { type: 'native', baseUrl, oauth: found.reference } });
    expect(loginAddressesOf(after)).toEqual(found);
    expect(slotOfReference(found.reference, after)).toEqual({ key, oauthHost });
    expect(managedBaseUrl(after)).toBe(baseUrl);
  });

  it('reuse a stored reference whose key is the one of its addresses', () => {
    const oauth = { ...globalLogin.oauth, storage: 'keyring' as const };
    expect(loginAddressesOf(inputs({ managed: { ...globalLogin, oauth } })).reference).toBe(oauth);
    const again = loginAddressesOf(inputs({ managed: { ...globalLogin, oauth } }), 'global').reference;
    expect(again).toEqual({ ...oauth, storage: 'file' });
  });
});

describe('the other addresses', () => {
  const cloudUrl = { SERVICE_CODE_CLOUD_URL: 'http://c/' };
  const directory = { SERVICE_CODE_MODEL_DIRECTORY_URL: ' http://d/x.json ' };
  const profile = ({ cdnBase, siteBase, remoteBase, telemetryEndpoint }: typeof CN) => ({
    cdnBase,
    siteBase,
    remoteBase,
    telemetryEndpoint,
    modelDirectoryUrl: 'https://models.dev/api.json',
  });
  const origin = (address: string) => ({
    cdnBase: `${address}/cdn`,
    siteBase: address,
    remoteBase: address,
    telemetryEndpoint: undefined,
    modelDirectoryUrl: `${address}/directory/api.json`,
  });
  const cloud = { url: 'https://u' };
  const telemetryEndpoint = 'https://t/v1/event';

  test.each<[string, Given, object]>([
    ['nothing', {}, profile(CN)],
    ['the marker', { marker: 'global' }, profile(GLOBAL)],
    ['a stored login', { managed: globalLogin }, profile(GLOBAL)],
    ['a pinned origin', { env: cloudUrl }, origin('http://c')],
    ['a pinned origin and [cloud]', { env: cloudUrl, cloud: { ...cloud, cdnBase: 'x' } }, origin('http://c')],
    ['[cloud] url', { cloud }, origin('https://u')],
    [
      '[cloud] url and a member',
      { cloud: { ...cloud, cdnBase: 'https://k/' } },
      { ...origin('https://u'), cdnBase: 'https://k' },
    ],
    ['[cloud] telemetry', { cloud: { ...cloud, telemetryEndpoint } }, { ...origin('https://u'), telemetryEndpoint }],
    [
      '[cloud] members in a region',
      { cloud: { siteBase: 'https://s' }, marker: 'global' },
      { ...profile(GLOBAL), siteBase: 'https://s' },
    ],
    ['[cloud] relay', { cloud: { remoteBase: 'https://r/' } }, { ...profile(CN), remoteBase: 'https://r' }],
    [
      '[cloud] directory',
      { cloud: { modelDirectoryUrl: 'https://m' } },
      { ...profile(CN), modelDirectoryUrl: 'https://m' },
    ],
    [
      'the relay variable',
      { env: { ...cloudUrl, SERVICE_CODE_REMOTE_HOST: 'http://r/' } },
      { ...origin('http://c'), remoteBase: 'http://r' },
    ],
    [
      'the directory variable',
      { env: { ...cloudUrl, ...directory } },
      { ...origin('http://c'), modelDirectoryUrl: 'http://d/x.json' },
    ],
    [
      'the directory variable and [cloud]',
      { env: directory, cloud: { modelDirectoryUrl: 'https://m' } },
      { ...profile(CN), modelDirectoryUrl: 'http://d/x.json' },
    ],
    ['a pinned base URL', { env: { SERVICE_CODE_BASE_URL: 'http://b' } }, profile(CN)],
  ])('by %s', (_what, given, expected) => {
    expect(addressesOf(inputs(given))).toEqual(expected);
  });

  test.each([
    ['https://cdn.cn.example.com/service', true],
    ['https://example.com', true],
    ['https://myexample.com', false],
    ['https://example.com.evil.test', false],
    ['no address', false],
  ])('%s is a placeholder: %s', (address, expected) => {
    expect(isPlaceholder(address)).toBe(expected);
  });
});

describe('slots', () => {
  it('have the default key for the compiled-in pair, regardless of `[cloud]`', () => {
    expect(slotKey('https://auth.cn.example.com/', 'https://api.cn.example.com/managed/v1//')).toBe(DEFAULT);
    expect(slotKey('https://auth.cn.example.com', 'https://api.example.com/managed/v1')).toBe(
      hashed('https://auth.cn.example.com', 'https://api.example.com/managed/v1'),
    );
    // The value itself, so that a change of the hashed text is noticed.
    expect(slotKey('https://auth.example.com', 'https://api.example.com/managed/v1')).toBe(
      'oauth/service-code-env-7b820b26cdcd1c79',
    );
  });

  it('are found by their key, not by the identity of the reference', () => {
    const copy = structuredClone(globalLogin.oauth);
    const pinned = inputs({ managed: globalLogin, env: { SERVICE_CODE_CLOUD_URL: 'http://c' } });
    const moved = { key: hashed('http://c', 'http://c/managed/v1'), oauthHost: 'http://c' };
    expect(slotOfReference(copy, pinned)).toEqual(moved);
    // Web services may store the key without its host.
    expect(slotOfReference({ storage: 'file', key: copy.key }, pinned)).toEqual(moved);
    expect(slotOfReference({ storage: 'file', key: copy.key }, inputs({ managed: globalLogin }))).toEqual({
      key: copy.key,
      oauthHost: GLOBAL.oauthHost,
    });
  });

  it('of other providers keep their own key and host, also when the environment pins the managed one', () => {
    const other = { storage: 'file' as const, key: 'oauth/other', oauthHost: 'https://o/' };
    const env = { SERVICE_CODE_CLOUD_URL: 'http://c' };
    const providers = { [MANAGED]: globalLogin, other: { type: 'openai', oauth: other } };
    const given = { ...inputs({ env }), providers };
    expect(slotOfReference(other, given)).toEqual({ key: 'oauth/other', oauthHost: 'https://o' });
    expect(slotOfReference({ storage: 'file', key: 'oauth/other' }, given)).toMatchObject({ oauthHost: 'https://o' });
    expect(slotOfReference({ storage: 'file', key: 'oauth/third' }, given)).toEqual({
      key: 'oauth/third',
      oauthHost: CN.oauthHost,
    });
  });

  test.each([
    ['service-code', 'service-code'],
    ['oauth/service-code', 'service-code'],
    ['oauth/x', 'x'],
    ['x', 'x'],
    ['oauth/a b', 'a b'],
    ['', undefined],
    ['oauth/', undefined],
    ['.x', undefined],
    ['oauth/.x', undefined],
    ['oauth/..', undefined],
    ['a/b', undefined],
    ['oauth/a/b', undefined],
    ['/x', undefined],
    ['x/', undefined],
    ['oauth/mcp:x', undefined],
    ['a:b', undefined],
    ['a\\b', undefined],
    ['a\0b', undefined],
  ])('%j names the file %j', (key, name) => {
    expect(slotName(key)).toBe(name);
  });
});
