import { describe, expect, it } from 'vitest';
import { createLogger } from '#server/logging/log.ts';

function logged(fields: Record<string, unknown>): Record<string, unknown> {
  const lines: string[] = [];
  createLogger('info', (line) => lines.push(line)).info('said', fields);
  expect(lines).toHaveLength(1);
  return JSON.parse(lines[0] ?? '') as Record<string, unknown>;
}

describe('a log line', () => {
  it('is one line with level, time, name, message and fields', () => {
    expect(logged({ id: 'a\nb', list: [1, null, { x: true }] })).toEqual({
      level: 30,
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      name: 'service-code',
      msg: 'said',
      id: 'a\nb',
      list: [1, null, { x: true }],
    });
  });

  it('contains errors with their causes', () => {
    const error = new TypeError('outer', { cause: new Error('inner', { cause: 'text' }) });
    expect(logged({ err: error }).err).toMatchObject({
      name: 'TypeError',
      message: 'outer',
      stack: expect.stringContaining('log.test.ts'),
      cause: { message: 'inner', cause: 'text' },
    });
  });

  it('is written for any field values', () => {
    const circular = new Error('round');
    circular.cause = { error: circular };
    const shared = { a: 1 };
    let deep: unknown = 'end';
    for (let level = 0; level < 50_000; level += 1) deep = { deep };
    const hostile = {
      get thrown(): never {
        throw new Error('no');
      },
    };
    const line = logged({
      err: circular,
      big: 2n ** 70n,
      twice: [shared, shared],
      deep,
      hostile,
      json: {
        toJSON() {
          throw new Error('no json');
        },
      },
      date: new Date(0),
      wrong: new Date(Number.NaN),
      nothing: undefined,
    });
    expect(line).toMatchObject({
      err: { message: 'round', cause: { error: '[circular]' } },
      big: '1180591620717411303424',
      twice: [{ a: 1 }, { a: 1 }],
      hostile: '[unreadable: no]',
      json: '[unreadable: no json]',
      date: '1970-01-01T00:00:00.000Z',
      wrong: null,
    });
    expect(JSON.stringify(line.deep)).toContain('[deep]');
  });
});
