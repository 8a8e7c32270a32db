/** The base of the page, a session in its path, and the token that is stored for it. */
import { describe, expect, it } from 'vitest';
import { pageAddress, sessionHashAddress } from '../../../web/state/page-address.ts';
import { createTokenStore } from '../../../web/stores/token-store.ts';

describe('the base', () => {
  it.each([
    ['http://127.0.0.1:1/', '/', '/'],
    ['http://127.0.0.1:1/sessions/a', '/', '/'],
    ['https://relay.test/devices/d1/sessions/a?rc=1', '/devices/d1/', '/devices/d1/'],
    ['https://relay.test/devices/d1/', '/devices/d1', '/devices/d1/'],
    // Sources of the page, without a declaration.
    ['http://127.0.0.1:5173/', undefined, '/'],
    ['http://127.0.0.1:5173/code/index.html', undefined, '/code/'],
  ])('of %s with the declaration %j is %s', (href, declared, base) => {
    expect(pageAddress(href, declared).base).toBe(base);
  });

  it.each([
    ['?rc=1', true],
    ['?from=x&rc=1', true],
    ['?rc=0', false],
    ['?rc', false],
    ['', false],
    ['#rc=1', false],
  ])('a relay serves the page at %j: %s', (rest, viaRelay) => {
    expect(pageAddress(`https://relay.test/${rest}`, '/').viaRelay).toBe(viaRelay);
  });
});

describe('a session in the path', () => {
  it.each([
    ['/', 'http://h/sessions/a', '/#/s/a'],
    ['/', 'http://h/sessions/a/', '/#/s/a'],
    ['/d/', 'https://h/d/sessions/a?rc=1&from=x', '/d/?rc=1&from=x#/s/a'],
    // The page navigates in the hash.
    ['/d/', 'https://h/d/sessions/a?rc=1#/s/b', '/d/?rc=1#/s/b'],
    ['/d/', 'https://h/sessions/a', undefined],
    ['/', 'http://h/sessions/', undefined],
    ['/', 'http://h/sessions/a/b', undefined],
    ['/', 'http://h/#/s/a', undefined],
  ])('below %s, %s becomes %s', (base, href, address) => {
    expect(sessionHashAddress(href, base)).toBe(address);
  });
});

describe('the stored token', () => {
  function storage() {
    const stored = new Map<string, string>();
    return {
      stored,
      getItem: (key: string) => stored.get(key) ?? null,
      setItem: (key: string, value: string) => void stored.set(key, value),
      removeItem: (key: string) => void stored.delete(key),
    };
  }

  it('is that of the tab and of one base', () => {
    const places = { tab: storage(), device: storage() };
    const store = createTokenStore('/a/', places);
    expect([store.read(), store.staysSignedIn.value]).toEqual([undefined, false]);
    store.save('one');
    expect(store.read()).toBe('one');
    expect(createTokenStore('/b/', places).read()).toBeUndefined();
    expect(places.device.stored.size).toBe(0);
    expect(createTokenStore('/a/', { ...places, tab: storage() }).read()).toBeUndefined();
  });

  it('outlives the tab at the user’s request, until that is withdrawn', () => {
    const places = { tab: storage(), device: storage() };
    createTokenStore('/a/', places).save('one', true);
    const later = createTokenStore('/a/', { ...places, tab: storage() });
    expect([later.read(), later.staysSignedIn.value]).toEqual(['one', true]);
    // One that the server has not accepted does not replace it.
    later.saveUntested('two');
    expect(later.read()).toBe('two');
    expect(createTokenStore('/a/', { ...places, tab: storage() }).read()).toBe('one');
    later.save('two');
    expect(createTokenStore('/a/', { ...places, tab: storage() }).read()).toBe('two');
    later.save('two', false);
    expect(places.device.stored.size).toBe(0);
    expect(later.read()).toBe('two');
  });

  it('is no longer stored for the device after another tab has removed it', () => {
    const places = { tab: storage(), device: storage() };
    const store = createTokenStore('/a/', places);
    store.save('one', true);
    const [key] = places.device.stored.keys();
    places.device.stored.clear();
    store.changed({ key: 'something else', newValue: null });
    expect(store.staysSignedIn.value).toBe(true);
    store.changed({ key: key ?? '', newValue: null });
    store.save('one');
    expect(places.device.stored.size).toBe(0);
  });
});
