import { Parser } from '@asyncapi/parser';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { asyncApiDocument } from '#utils/documents/asyncapi.ts';
import { frameText } from '#server/events/frame.ts';
import { ackText, errorText, helloText, refusalText, resyncText } from '#server/events/outgoing.ts';
import { frameSchemas } from '#support/frame-schemas.ts';
import { delta, frame } from '../events/fixtures.ts';

const document = asyncApiDocument({ version: '1.2.3', host: '127.0.0.1' });

const members = z.record(z.string(), z.unknown());

/** Our operations reference `components` directly; the standard requires a reference through the channel. */
const DEVIATION = 'asyncapi3-operation-messages-from-referred-channel';

describe('/asyncapi.json', () => {
  it('is valid AsyncAPI 3.1.0, except for the references of its operations', async () => {
    const { diagnostics } = await new Parser().parse(JSON.stringify(document));
    const errors = diagnostics.filter(({ severity }) => severity === 0);
    expect(errors.filter(({ code }) => code !== DEVIATION)).toEqual([]);
    const references = Object.values(document.operations).flatMap(({ messages }) => messages);
    expect(errors).toHaveLength(references.length);
    expect(document.asyncapi).toBe('3.1.0');
  });

  it('names server, channel, operations and messages as specified', () => {
    expect(document.servers.local).toMatchObject({ host: '127.0.0.1', protocol: 'ws', pathname: '/api/v1/ws' });
    expect(document.channels.serviceCodeWebSocket?.address).toBe('/api/v1/ws');
    const ids = (messages: { $ref: string }[]) =>
      messages.map(({ $ref }) => $ref.replace('#/components/messages/', ''));
    const { receiveClientMessages, sendServerMessages } = document.operations;
    expect(ids(receiveClientMessages.messages)).toEqual([
      'client_hello',
      'subscribe',
      'unsubscribe',
      'subscribe_v2',
      'unsubscribe_v2',
      'abort',
      'watch_fs_add',
      'watch_fs_remove',
      'terminal_attach',
      'terminal_detach',
      'terminal_input',
      'terminal_resize',
      'terminal_close',
    ]);
    expect(ids(sendServerMessages.messages)).toEqual([
      'server_hello',
      'resync_required',
      'error',
      'event_fs_changed',
      'terminal_output',
      'terminal_exit',
      'terminal_resized',
      'session_event',
      'client_hello_ack',
      'subscribe_ack',
      'unsubscribe_ack',
      'subscribe_v2_ack',
      'unsubscribe_v2_ack',
      'abort_ack',
      'watch_fs_add_ack',
      'watch_fs_remove_ack',
      'terminal_attach_ack',
      'terminal_detach_ack',
      'terminal_input_ack',
      'terminal_resize_ack',
      'terminal_close_ack',
    ]);
    expect(document.components.messages.client_hello_ack).toMatchObject({
      name: 'client_hello.ack',
      title: 'Client Hello Ack',
      contentType: 'application/json',
    });
  });

  it('resolves all its references within itself and names no dialect', () => {
    const text = JSON.stringify(document);
    expect(text).not.toContain('$schema');
    const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference ?? ''));
    expect(references).toContain('#/components/schemas/Session');
    const dangling = [...references].filter((reference) => {
      let found: unknown = document;
      for (const key of reference.slice(2).split('/')) found = members.parse(found)[key];
      return found === undefined;
    });
    expect(dangling).toEqual([]);
  });
});

describe('its schemas', () => {
  const schemas = frameSchemas(document);
  const check = (messageId: string, text: string) => schemas.check(messageId, JSON.parse(text));

  const timed = delta('x', 0);
  const nested = { code: 'y', message: 'y', retryable: true };
  it.each([
    ['server_hello', helloText('conn_1', 1000)],
    ['error', errorText('validation.failed', 'x', false)],
    ['resync_required', resyncText('s1', 'epoch_changed', { seq: 3, epoch: 'ep_1' })],
    ['subscribe_ack', ackText(1, { accepted: [], not_found: [], resync_required: [], cursors: {} })],
    ['subscribe_ack', refusalText('', 'validation.failed', 'x', { details: [{ path: '', message: 'x' }] })],
    ['abort_ack', refusalText('', 'prompt.already_completed', 'x', { aborted: false })],
    ['session_event', frameText({ ...timed, payload: { ...timed.payload, time: 1 } })],
    ['session_event', frameText(frame('agent.created', 1))],
    [
      'session_event',
      frameText(frame('error', 1, { time: 1, code: 'x', message: 'x', retryable: false, cause: nested })),
    ],
  ])('accept %s as sent by the server: %s', (messageId, text) => {
    expect(() => check(messageId, text)).not.toThrow();
  });

  it.each([
    ['an unknown event', 'session_event', frameText(frame('turn.imagined', 1, { time: 1 }))],
    ['a missing field', 'session_event', frameText(frame('turn.started', 1, { time: 1, turnId: 0 }))],
    ['an engine event without its time', 'session_event', frameText(delta('x', 0))],
    [
      'a wrong cause',
      'session_event',
      frameText(frame('error', 1, { time: 1, code: 'x', message: 'x', retryable: false, cause: 1 })),
    ],
    ['the payload of another ack', 'abort_ack', ackText(1, { accepted: [], not_found: [], resync_required: [] })],
    [
      'another protocol version',
      'server_hello',
      helloText('conn_1', 1000).replace('"protocol_version":2', '"protocol_version":3'),
    ],
  ])('refuse %s', (_name, messageId, text) => {
    expect(() => check(messageId, text)).toThrow(messageId);
  });
});
