import { expect, it } from 'vitest';
import { serverLine, withoutSecrets } from '#server/mcp/server-text.ts';

it('is one line of 300 characters', () => {
  const line = serverLine(`<html>\n\t${'x'.repeat(300_000)}\u202e`, []);
  expect(line.startsWith('<html> xxx')).toBe(true);
  expect(line).toHaveLength(300);
  expect(serverLine('fetch failed: ECONNREFUSED', [])).toBe('fetch failed: ECONNREFUSED');
});

it('masks the values that the server received', () => {
  const secrets = ['Bearer SECRETBEARER2', 'true', 'key-123456'];
  expect(serverLine('got Bearer SECRETBEARER2, key-123456 and SECRETBEARER2: true', secrets)).toBe(
    'got …, … and …: true',
  );
  expect(withoutSecrets('a\nkey-123456\nb', secrets)).toBe('a\n…\nb');
});

it('masks a secret that the cut would divide', () => {
  expect(serverLine(`${'x'.repeat(295)} SECRETBEARER2`, ['SECRETBEARER2'])).not.toContain('SECRET');
});
