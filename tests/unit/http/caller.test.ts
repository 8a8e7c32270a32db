/** How a request identifies its client. */
import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { callerOf } from '#utils/http/caller.ts';

it('names the client without characters that hide or reorder text, and cuts', () => {
  const headers = {
    'x-service-client-name': ` a\u202Eb\u200Bc\u2028${'x'.repeat(200)}`,
    'user-agent': `\u0007curl/8.5${'y'.repeat(300)}`,
  };
  expect(callerOf(headers, '192.0.2.7')).toEqual({
    client_name: `abc${'x'.repeat(97)}`,
    user_agent: `curl/8.5${'y'.repeat(192)}`,
    remote_address: '192.0.2.7',
  });
});

it('has a hash instead of the id, and omits members that the request lacks', () => {
  const client_id = createHash('sha256').update('secret').digest('hex').slice(0, 32);
  expect(callerOf({ 'x-service-client-id': 'secret' }, undefined)).toStrictEqual({ client_id });
  const empty = { 'x-service-client-id': '', 'x-service-client-name': ' \u200B ', 'user-agent': '' };
  expect(callerOf(empty, undefined)).toStrictEqual({});
});

it('shows an IPv4 address that IPv6 contains as IPv4, and others unchanged', () => {
  expect(callerOf({}, '::ffff:127.0.0.1')).toEqual({ remote_address: '127.0.0.1' });
  expect(callerOf({}, '2001:db8::1')).toEqual({ remote_address: '2001:db8::1' });
});
