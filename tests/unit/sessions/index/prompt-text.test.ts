import { describe, expect, it } from 'vitest';
import { metadataText } from '#server/sessions/index/prompt-text.ts';

const text = (value: string) => metadataText([{ type: 'text', text: value }]);
const KEY = 'A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8S9t0';

describe('metadataText', () => {
  it('joins texts and names media', () => {
    const source = { kind: 'url', url: 'https://example.com/a.png' } as const;
    expect(
      metadataText([
        { type: 'text', text: 'See' },
        { type: 'image', source },
        { type: 'video', source },
        { type: 'text', text: 'this' },
      ]),
    ).toBe('See [image] [video] this');
  });

  it('is one line of at most 4000 characters', () => {
    expect(text('  a\r\n\tb\u0000\u0007 \u2028c ')).toBe('a b c');
    expect(text('')).toBe('');
    expect(text('word '.repeat(2000))).toHaveLength(4000);
  });

  it.each([
    ['a private key', 'x -----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- y', 'x [redacted] y'],
    ['one that is cut off', 'x -----BEGIN PRIVATE KEY-----\nMIIE', 'x [redacted]'],
    ['a bearer header', 'curl -H "Authorization: Bearer abc.def-123"', 'curl -H "Authorization: Bearer [redacted]"'],
    ['a pair with =', 'API_KEY=abc123 next', 'API_KEY=[redacted] next'],
    ['a pair with :', 'password: hunter2', 'password: [redacted]'],
    ['a quoted value', 'client_secret = "a b c" d', 'client_secret = [redacted] d'],
    ['JSON', '{"token": "abc", "a": 1}', '{"token": [redacted], "a": 1}'],
    ['a key by its prefix', 'use sk-abcdefghijkl now', 'use [redacted] now'],
    ['a long word', `here: ${KEY} ok`, 'here: [redacted] ok'],
    ['a long word at the end of a sentence', `It is ${KEY}.`, 'It is [redacted].'],
    ['a long word behind a colon', `it:${KEY}`, 'it:[redacted]'],
    ['a web token', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-DEF_1`, '[redacted]'],
  ])('hides %s', (_what, given, shown) => {
    expect(text(given)).toBe(shown);
  });

  it.each([
    'sk-short',
    'Explain the key idea: why tokens matter',
    'look at src/components/very/long/path/to/some/file/that/is/long.ts',
    'https://example.com/a/very/long/address/that/goes/on/and/on/and/on',
    'The word antidisestablishmentarianism is long',
  ])('leaves %s alone', (given) => {
    expect(text(given)).toBe(given);
  });

  it.each([
    ['one long word', 'a'],
    ['a word with dashes', 'a-'],
    ['a word that is nearly a pair', 'key-'],
    ['a word that is nearly a web token', '-eyJ'],
    ['a run of equals signs', '='],
    ['pairs without a value', 'key '],
    ['quotes that stay open', `key="`],
    ['headers without an end', '-----BEGIN PRIVATE KEY-----'],
    ['white space', ' '],
  ])('takes linear time for %s of a megabyte', (_what, piece) => {
    const began = performance.now();
    for (const end of ['', '/', '.']) text(piece.repeat(Math.ceil(1_000_000 / piece.length)) + end);
    expect(performance.now() - began).toBeLessThan(10_000);
  });

  it('omits a secret at the cut instead of returning half of it', () => {
    for (let spaces = 15_955; spaces < 16_000; spaces++)
      expect(text(' '.repeat(spaces) + KEY)).toMatch(/^(\[redacted\])?$/);
    expect(text('字'.repeat(20_000))).toHaveLength(4000);
  });

  it('hides a long value in an address', () => {
    expect(text(`https://example.com/a=${KEY}`)).toBe('https://example.com/a=[redacted]');
  });
});
