/** The clients that the page treats as other ones. */
import { expect, it } from 'vitest';
import type { EventFrame } from '@service-code/client';
import { textOf, type Message } from '../../../web/messages/messages.ts';
import { changeElsewhereText, otherCallerText } from '../../../web/state/other-caller.ts';

const textIfAny = (text: Message | undefined) => text && textOf(text);
const other = (by: Parameters<typeof otherCallerText>[0]) => textIfAny(otherCallerText(by, 'this-tab'));

it('excludes this tab, by the id that the server returned', () => {
  expect(other({ clientName: 'service-code-web', clientId: 'this-tab' })).toBeUndefined();
});

it('the name of the page makes no client this tab, nor does an id before the server returned one', () => {
  expect(other({ clientName: 'service-code-web' })).toBe('by service-code-web, not from this page');
  expect(other({ clientName: 'x', clientId: 'another' })).toBe('by x, not from this page');
  expect(textIfAny(otherCallerText({ clientName: 'x' }, undefined))).toBe('by x, not from this page');
});

it('names the client, or its program, and its address', () => {
  const curl = { userAgent: 'curl/8.5 more', remoteAddress: '127.0.0.1' };
  expect(other(curl)).toBe('by curl/8.5 (127.0.0.1), not from this page');
  expect(other({ remoteAddress: '::1' })).toBe('by an unnamed client (::1), not from this page');
  expect(other({ clientName: 'a\u2800b' })).toBe('by a<U+2800>b, not from this page');
});

it('is undefined where no client is recorded', () => {
  expect(other(undefined)).toBeUndefined();
  expect(other({})).toBeUndefined();
});

it('describes settings and workspaces that another client changed', () => {
  const by = { user_agent: 'curl/8.5' };
  const changedFields = ['hooks', 'permission'];
  const workspace = { root: '/a\u202Eb' };
  // Members that the page does not read are missing.
  const text = (type: string, payload: object) =>
    textIfAny(changeElsewhereText({ type, payload } as EventFrame, 'this-tab'));
  expect(text('event.config.changed', { changedFields, by })).toBe(
    'Settings (hooks, permission) were changed by curl/8.5, not from this page.',
  );
  expect(text('event.workspace.updated', { workspace, by })).toBe(
    'Name, trust or directories of /a<U+202E>b were changed by curl/8.5, not from this page.',
  );
  expect(text('event.config.changed', { changedFields })).toBeUndefined();
  expect(text('event.config.changed', { changedFields, by: { client_id: 'this-tab' } })).toBeUndefined();
  expect(text('event.session.archived', { by })).toBeUndefined();
});
