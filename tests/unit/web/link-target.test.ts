/** Targets of links in model text, and whether their label names them. */
import { expect, it } from 'vitest';
import { isWebAddress, linkTarget, namesTarget } from '../../../web/render/link-target.ts';

const PAGE = 'http://localhost:4321/#/s/1';

it.each([
  'http://localhost:4321/',
  'http://localhost.:4321/',
  'http://127.0.0.1:4321/#token=X',
  'http://127.1:4321/#token=X',
  'http://127.9.9.9:4321/',
  'http://0:4321/',
  'http://[::1]:4321/',
  'http://[::]:4321/',
  'http://[::ffff:127.0.0.1]:4321/',
  'http://app.localhost:4321/',
  'https://user@LOCALHOST:4321/',
])('%s is an address of the page’s own server', (href) => {
  expect(linkTarget(href, PAGE)).toEqual({ opens: false, shown: href });
});

it.each([
  ['http://localhost:3000/app', 'localhost:3000'],
  ['http://127.0.0.1/', '127.0.0.1'],
  ['http://127.0.0.1.evil.test:4321/', '127.0.0.1.evil.test:4321'],
  ['http://notlocalhost:4321/', 'notlocalhost:4321'],
  ['https://other.test/', 'other.test'],
  ['mailto:a@b.test', 'a@b.test'],
  ['mailto:a@b.test?subject=x', 'a@b.test?subject=x'],
  ['mailto:a@b.test?bcc=c@evil.test', 'a@b.test?bcc=c@evil.test'],
])('%s opens and displays %s', (href, shown) => {
  expect(linkTarget(href, PAGE)).toEqual({ opens: true, shown });
});

it('loopback addresses with the default port are the page’s own only on that port', () => {
  expect(linkTarget('http://127.0.0.1/', 'http://service.test/').opens).toBe(false);
  expect(linkTarget('http://127.0.0.1/', 'https://service.test/').opens).toBe(true);
  expect(linkTarget('https://service.test./', 'https://service.test/').opens).toBe(false);
});

it.each([
  ['https://accounts.test@evil.test/', 'https://accounts.test@evil.test/'],
  ['accounts.test@evil.test/', 'http://accounts.test@evil.test/'],
  ['https://accounts.test:443@evil.test/', 'https://accounts.test:443@evil.test/'],
  ['https://%65vil.test/', 'https://%65vil.test/'],
  ['http://2130706433/', 'http://2130706433/'],
  ['https:accounts.test', 'https:accounts.test'],
  ['https://good.test/', 'https://evil.test/'],
  ['good.test', 'https://good.test.evil.test/'],
  ['Approve', 'https://evil.test/'],
  ['a@b.test', 'mailto:a@b.test?bcc=c@evil.test'],
])('label %s does not name %s', (label, href) => {
  expect(namesTarget(label, href)).toBe(false);
});

it.each([
  ['https://plain.test/a?b=1', 'https://plain.test/a?b=1'],
  ['https://plain.test', 'https://plain.test'],
  ['https://plain.test?a@b', 'https://plain.test?a@b'],
  ['https://Plain.test:8443/@user', 'https://Plain.test:8443/@user'],
  ['http://[::1]:3000/', 'http://[::1]:3000/'],
  ['plain.test/a', 'http://plain.test/a'],
  ['a@b.test', 'mailto:a@b.test'],
])('label %s names %s', (label, href) => {
  expect(namesTarget(label, href)).toBe(true);
});

it('opens only web addresses', () => {
  expect(['https://x.example', 'http://127.0.0.1:1/a'].map(isWebAddress)).toEqual([true, true]);
  expect(['javascript:alert(1)', 'data:text/html,x', 'file:///x', 'x'].some(isWebAddress)).toBe(false);
});
