/** The view of remote control: states, failures, addresses, QR codes, devices. */
import { encode } from 'uqr';
import { describe, expect, it } from 'vitest';
import type { RemoteConflict, RemoteDevice } from '#schema/rest/remote-control.ts';
import { ApiError, ConnectionError } from '@service-code/client';
import {
  addressWithToken,
  deviceFacts,
  failureOf,
  holderLines,
  isThroughTunnel,
  modulesPath,
  stateOf,
} from '../../../web/features/remote-control/remote.ts';

const NOW = Date.parse('2027-01-15T10:00:00.000Z');
const before = (ms: number) => new Date(NOW - ms).toISOString();
const HOUR = 3_600_000;

const holder: RemoteConflict = {
  pid: 4711,
  local_origin: 'http://127.0.0.1:58627',
  device_id: 'd',
  url: 'https://relay.test/devices/d/',
  started_at: before(2 * HOUR),
};

it.each([
  [{ state: 'off' }, 'Off', false],
  [{ state: 'starting' }, 'Turning on …', true],
  [{ state: 'starting', url: 'https://relay.test/' }, 'Reconnecting …', true],
  [{ state: 'on', url: 'https://relay.test/' }, 'On', false],
  [{ state: 'stopping' }, 'Turning off …', true],
] as const)('%j is: %s', (status, text, isChanging) => {
  expect(stateOf(status)).toMatchObject({ text, isChanging });
});

describe('a failure', () => {
  const failed = (code: number, details?: unknown) => failureOf(new ApiError(code, 'why', { status: 200, details }));

  it('distinguishes a login, another holder, and others', () => {
    expect(failed(40111).kind).toBe('login');
    expect(failed(40112).kind).toBe('login');
    expect(failed(40928, holder)).toEqual({ kind: 'conflict', holder });
    expect(failed(50001)).toMatchObject({ kind: 'other', error: { message: 'why' } });
    expect(failed(40001)).toMatchObject({ kind: 'other', error: { message: 'why' } });
    expect(failureOf(new ConnectionError('lost'))).toMatchObject({ kind: 'other', error: { message: 'lost' } });
  });

  it('displays the message where the holder is not described', () => {
    expect(failed(40928)).toMatchObject({ kind: 'other', error: { message: 'why' } });
    expect(failed(40928, { ...holder, url: 7 })).toMatchObject({ kind: 'other', error: { message: 'why' } });
  });
});

it('describes the holder as far as it is known', () => {
  expect(holderLines(holder, NOW)).toEqual([
    'Another server of this machine hosts remote control: process 4711 at http://127.0.0.1:58627, for 2h.',
    'Its address is https://relay.test/devices/d/. Turn it off there first.',
  ]);
  expect(holderLines({ ...holder, local_origin: '', url: '', started_at: '' }, NOW)).toEqual([
    'Another server of this machine hosts remote control: process 4711.',
    'Try again in a moment.',
  ]);
});

it('appends the token to an address', () => {
  expect(addressWithToken('https://relay.test/devices/d/', 'a+b')).toBe('https://relay.test/devices/d/#token=a%2Bb');
  expect(addressWithToken('https://relay.test/devices/d/', undefined)).toBe('https://relay.test/devices/d/');
});

it.each([
  ['https://relay.test/devices/d/', 'https://relay.test/devices/d/#/remote-control', true],
  ['https://relay.test/devices/d', 'https://relay.test/devices/d/sessions/s', true],
  ['https://relay.test/devices/d', 'https://relay.test/devices/d2/', false],
  ['https://d.relay.test', 'https://d.relay.test/#/', true],
  ['https://d.relay.test/', 'http://127.0.0.1:58627/', false],
  [undefined, 'http://127.0.0.1:58627/', false],
  ['x', 'http://127.0.0.1:58627/', false],
])('with the address %s, the page %s was opened through the tunnel: %s', (url, page, expected) => {
  expect(isThroughTunnel(url, page)).toBe(expected);
});

describe('a QR code', () => {
  it('is drawn as one path of horizontal runs', () => {
    expect(
      modulesPath([
        [true, true, false, true],
        [false, false, false, false],
        [false, true, true, true],
      ]),
    ).toBe('M0 0h2v1h-2zM3 0h1v1h-1zM1 2h3v1h-3z');
    expect(modulesPath([])).toBe('');
  });

  it('draws each dark module of an encoded address', () => {
    const { data } = encode('https://relay.test/devices/d/#token=abc');
    const dark = data.flat().filter(Boolean).length;
    const widths = [...modulesPath(data).matchAll(/h(\d+)v/g)].map(([, width]) => Number(width));
    expect(widths.reduce((sum, width) => sum + width, 0)).toBe(dark);
  });
});

it.each([
  [before(1000), 'linux · 1.2.3 · used remotely just now'],
  [before(5 * HOUR), 'linux · 1.2.3 · used remotely 5h ago'],
  [before(400 * HOUR), 'linux · 1.2.3 · used remotely on 2026-12-29'],
  [null, 'linux · 1.2.3 · never used remotely'],
])('a device that was used at %s: %s', (last_remote_access_at, text) => {
  const device: RemoteDevice = {
    device_id: 'd',
    alias: 'laptop',
    status: 'online',
    platform: 'linux',
    client_version: '1.2.3',
    local_base_url: '',
    created_at: before(0),
    updated_at: before(0),
    last_remote_access_at,
  };
  expect(deviceFacts(device, NOW)).toBe(text);
});
