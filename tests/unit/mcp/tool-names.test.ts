/** Names of MCP tools. */
import { expect, test } from 'vitest';
import { isMcpTool, qualifiedName, serverOfTool } from '#server/mcp/tool-names.ts';

test('other characters become one underscore', () => {
  expect(qualifiedName('my server', 'read.file')).toBe('mcp__my_server__read_file');
  expect(qualifiedName('a  é', 'x___y')).toBe('mcp__a___x_y');
  expect(qualifiedName('plugin-p:files', 'a-b')).toBe('mcp__plugin-p_files__a-b');
});

test('a name of 80 characters becomes one of 64 with a hash of all of it', () => {
  const long = qualifiedName('s'.repeat(20), 't'.repeat(53));
  expect(`mcp__${'s'.repeat(20)}__${'t'.repeat(53)}`).toHaveLength(80);
  expect(long).toHaveLength(64);
  expect(long).toMatch(/^mcp__s{20}__t{28}_[0-9a-f]{8}$/);
  expect(qualifiedName('s'.repeat(20), `${'t'.repeat(52)}u`)).not.toBe(long);
  expect(qualifiedName('s', 't'.repeat(56))).toHaveLength(64);
  expect(qualifiedName('s', 't'.repeat(56))).toBe(`mcp__s__${'t'.repeat(56)}`);
});

test('the hash is FNV-1a of 32 bits', () => {
  // 70 characters; the value comes from the published algorithm.
  let hash = 2166136261n;
  const name = `mcp__a__${'b'.repeat(62)}`;
  for (const character of name) hash = ((hash ^ BigInt(character.charCodeAt(0))) * 16777619n) % 2n ** 32n;
  expect(qualifiedName('a', 'b'.repeat(62)).slice(-8)).toBe(hash.toString(16).padStart(8, '0'));
});

test('the server of a name is the text before the next two underscores', () => {
  expect(serverOfTool('mcp__one__echo')).toBe('one');
  expect(serverOfTool('mcp__one')).toBeUndefined();
  expect(serverOfTool('Read')).toBeUndefined();
  expect([isMcpTool('mcp__one'), isMcpTool('Read')]).toEqual([true, false]);
});
