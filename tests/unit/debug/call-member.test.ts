import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CALL_TIMEOUT_MS, callMember } from '#server/debug/call-member.ts';
import { param, PROPERTY, type AnyAllowList } from '#server/debug/listed.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { manualClock } from '#support/manual-clock.ts';

class Inherited {
  inherited() {
    return 'reached';
  }
}

const systemError = (code: string) => Object.assign(new Error(`${code}: no`), { code });

const store = Object.assign(new Inherited(), {
  add: (a: number, b = 10, ...rest: unknown[]) => [a, b, ...rest],
  whose() {
    return this === store;
  },
  state: { ready: true },
  hidden: () => 'reached',
  nothing: () => undefined,
  late: () => Promise.resolve(5),
  never: () => new Promise(() => undefined),
  map: () => new Map([['a', 1]]),
  stream: () => ({ pipe: () => undefined }),
  fails(name: string) {
    if (name === 'busy') throw new ServiceError('session.busy', 'busy');
    throw name.startsWith('E') ? systemError(name) : new Error(name);
  },
});
Object.defineProperty(store, 'broken', {
  enumerable: true,
  get() {
    throw new Error('a getter that throws');
  },
});

const names = ['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'inherited'];
const list: AnyAllowList = {
  store: {
    domain: 'd',
    members: {
      ...Object.fromEntries(names.map((name) => [name, []])),
      add: [param('a', z.number()), param('b', z.number().optional())],
      whose: [],
      state: PROPERTY,
      nothing: [],
      late: [],
      never: [],
      map: [],
      stream: [],
      broken: PROPERTY,
      missing: [],
      fails: [param('name', z.string())],
    },
  },
  bare: { domain: 'd', members: {} },
};
/** Has own members of these names, which the list does not name. */
const bare = { toString: () => 'reached', constructor: () => 'reached' };
const other: AnyAllowList = { agent: { domain: 'd', members: {} } };

const clock = manualClock();
const call = (name: string, given?: unknown) => {
  const [service = '', method = ''] = name.split('.');
  return callMember(
    { scope: 'app', list, services: { store, bare } },
    [list, other],
    { service, method },
    given,
    clock,
  );
};
const invalid = (message: string) => ({ name: 'validation.failed', message });

describe('the argument of a call', () => {
  it.each([
    ['an array is one value for each parameter', [1, 2], [1, 2]],
    ['any other value is the only one', 1, [1, 10]],
    ['values beyond the listed parameters are not passed', [1, 2, 3], [1, 2]],
  ])('%s', async (_name, given, result) => {
    expect(await call('store.add', given)).toEqual(result);
  });

  it('is checked; details name the parameter', async () => {
    await expect(call('store.add', ['1', null])).rejects.toMatchObject({
      name: 'validation.failed',
      details: [{ path: 'a' }, { path: 'b' }],
    });
    await expect(call('store.add')).rejects.toMatchObject({ details: [{ path: 'a' }] });
  });

  it('does not matter where a member has no parameters', async () => {
    expect(await call('store.nothing', { a: 1 })).toBeNull();
    expect(await call('store.state', [1])).toEqual({ ready: true });
  });
});

describe('a member', () => {
  it('is called on its service; its promise is awaited, a value is read', async () => {
    expect(await call('store.whose')).toBe(true);
    expect(await call('store.late')).toBe(5);
    expect(await call('store.state')).toEqual({ ready: true });
    expect(await call('store.map')).toEqual([['a', 1]]);
  });

  it.each([...names, 'hidden', 'missing', '_add', ''])('is not found: %s', async (name) => {
    await expect(call(`store.${name}`)).rejects.toMatchObject(invalid(`method not found: store.${name}`));
  });

  it.each(['toString', 'constructor'])('that the list does not name is not found: %s', async (name) => {
    await expect(call(`bare.${name}`)).rejects.toMatchObject(invalid(`method not found: bare.${name}`));
  });

  it.each([...names, 'other', ''])('of an unknown service is not found: %s', async (name) => {
    await expect(call(`${name}.add`)).rejects.toMatchObject(invalid(`unknown service: ${name}`));
  });

  it('of a service of another scope is refused with that reason', async () => {
    const refusal = invalid('service not available in app scope: agent');
    await expect(call('agent.add')).rejects.toMatchObject(refusal);
  });
});

describe('a failed call', () => {
  it.each([
    ['busy', 'session.busy'],
    ['ENOENT', 'fs.path_not_found'],
    ['EACCES', 'fs.permission_denied'],
    ['ENOSPC', 'persistence.failure'],
  ])('%s is %s', async (thrown, name) => {
    await expect(call('store.fails', thrown)).rejects.toMatchObject({ name });
  });

  it('with any other error stays that error', async () => {
    await expect(call('store.fails', 'oops')).rejects.toThrow('oops');
    await expect(call('store.fails', 'EOTHER')).rejects.toMatchObject({ code: 'EOTHER' });
    await expect(call('store.broken')).rejects.toThrow('a getter that throws');
  });

  it('has a result that cannot be sent', async () => {
    const refusal = { name: 'internal.error', message: 'result cannot be sent' };
    await expect(call('store.stream')).rejects.toMatchObject(refusal);
  });

  it('did not end in 30 seconds', async () => {
    const result = call('store.never');
    clock.advance(CALL_TIMEOUT_MS);
    await expect(result).rejects.toMatchObject({
      name: 'internal.error',
      message: 'call timed out after 30000ms',
    });
  });

  it('keeps no timer, like any other call', async () => {
    await call('store.late');
    await call('store.fails', 'oops').catch(() => undefined);
    expect(clock.waits()).toEqual([]);
  });
});
