/** Helpers of the protocols: call ids, tool schemas, token estimates, the collector. */
import { describe, expect, it } from 'vitest';
import { sanitizeCallIds } from '#server/models/call-ids.ts';
import { estimateMessages, estimateText, estimateTools } from '#server/journal/token-estimate.ts';
import { createCollector } from '#server/models/protocols/collect.ts';
import { normalizeToolSchema } from '#server/models/tool-schema.ts';
import type { StreamPart } from '#server/models/types.ts';
import { PNG, readTool, user } from '#support/model-requests.ts';

describe('sanitizeCallIds', () => {
  const history = (...ids: string[]) => [
    { role: 'assistant' as const, content: [], toolCalls: ids.map((id) => ({ id, name: 'x', arguments: null })) },
  ];

  it('replaces, shortens and numbers', () => {
    const long = 'x'.repeat(80);
    const map = sanitizeCallIds(history('a.b', 'a:b', 'a b', long, `${long}y`, 'ok-1_A'));
    expect(['a.b', 'a:b', 'a b', 'ok-1_A'].map(map)).toEqual(['a_b', 'a_b_2', 'a_b_3', 'ok-1_A']);
    expect(map(long)).toBe('x'.repeat(64));
    expect(map(`${long}y`)).toBe(`${'x'.repeat(62)}_2`);
    expect(map('a:b')).toBe('a_b_2');
  });

  it('cuts at the pipe for Responses only', () => {
    expect(sanitizeCallIds(history('call|fc'), true)('call|fc')).toBe('call');
    expect(sanitizeCallIds(history('call|fc'))('call|fc')).toBe('call_fc');
  });
});

describe('normalizeToolSchema', () => {
  it('inlines references, drops the tables, infers types, drops foreign keywords', () => {
    const schema = {
      type: 'object',
      $defs: { size: { enum: [1, 2], description: 'Size' }, unused: {} },
      properties: {
        size: { $ref: '#/$defs/size', description: 'Mine' },
        name: { type: 'string', minLength: 1, minimum: 3 },
        list: { items: { properties: { a: {} } } },
        either: { anyOf: [{ const: 'x' }, { type: 'null' }] },
        mixed: { enum: ['a', null] },
      },
    };
    const before = JSON.stringify(schema);
    expect(normalizeToolSchema(schema)).toEqual({
      type: 'object',
      properties: {
        size: { enum: [1, 2], description: 'Mine', type: 'integer' },
        name: { type: 'string', minLength: 1 },
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        either: { anyOf: [{ const: 'x', type: 'string' }, { type: 'null' }] },
        mixed: { enum: ['a', null], type: ['string', 'null'] },
      },
    });
    expect(JSON.stringify(schema)).toBe(before);
  });

  it('keeps the definition of a recursive type', () => {
    const node = { type: 'object', properties: { next: { $ref: '#/$defs/node' } } };
    const schema = { type: 'object', $defs: { node }, properties: { root: { $ref: '#/$defs/node' } } };
    expect(normalizeToolSchema(schema)).toEqual({
      type: 'object',
      properties: { root: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
      $defs: { node: { type: 'object', properties: { next: { $ref: '#/$defs/node' } } } },
    });
  });
});

describe('estimate', () => {
  it('counts a quarter for each ASCII character and one for each other', () => {
    expect(estimateText('')).toBe(0);
    expect(estimateText('abcde')).toBe(2);
    expect(estimateText('日本abcd')).toBe(3);
    expect(estimateText('😀')).toBe(1);
  });

  it('adds roles, media, calls and tools', () => {
    const image = { ...user(''), content: [{ type: 'image_url' as const, imageUrl: { url: PNG } }] };
    expect(estimateMessages([image])).toBe(1 + 2000);
    const call = {
      role: 'assistant' as const,
      content: [],
      toolCalls: [{ id: 'a', name: 'Read', arguments: '{"a":1}' }],
    };
    expect(estimateMessages([call])).toBe(3 + 1 + 2);
    expect(estimateTools([readTool])).toBe(1 + 4 + Math.ceil(JSON.stringify(readTool.parameters).length / 4));
  });
});

describe('collector', () => {
  it('distinguishes parallel calls under one index, and drops a call that never gets a name', () => {
    const parts: StreamPart[] = [];
    const collect = createCollector((part) => parts.push(part));
    collect.call(0, { id: 'a', name: 'Read', arguments: '{}' });
    collect.call(0, { id: 'b', name: 'Bash' });
    collect.call(0, { arguments: '{"x":1}' });
    collect.call(5, { arguments: 'never named' });
    expect(collect.finish().calls).toEqual([
      { id: 'a', name: 'Read', arguments: '{}' },
      { id: 'b', name: 'Bash', arguments: '{"x":1}' },
    ]);
    expect(parts.filter((part) => part.type === 'arguments').map((part) => part.index)).toEqual([0, 1]);
  });

  it('merges fragments of one kind and keeps signatures apart', () => {
    const collect = createCollector(() => {});
    collect.think('a', 'anthropic');
    collect.think('b', 'anthropic');
    collect.sign('s1', 'anthropic');
    collect.think('c', 'anthropic');
    collect.sign('r', 'anthropic_redacted');
    collect.text('x');
    collect.text('y');
    expect(collect.finish().parts).toEqual([
      { type: 'think', think: 'ab', encrypted: 's1', format: 'anthropic' },
      { type: 'think', think: 'c', format: 'anthropic' },
      { type: 'think', think: '', encrypted: 'r', format: 'anthropic_redacted' },
      { type: 'text', text: 'xy' },
    ]);
  });
});
