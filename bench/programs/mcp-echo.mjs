// An MCP server over stdio with fifteen tools that echo their arguments.
import { createInterface } from 'node:readline';

const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const tools = Array.from({ length: 15 }, (_, n) => ({ name: `echo_${n}`, description: 'Says it again.', inputSchema }));
const serverInfo = { name: 'echo', version: '1' };

const results = {
  initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo }),
  'tools/list': () => ({ tools }),
  'tools/call': ({ arguments: { text } }) => ({ content: [{ type: 'text', text }] }),
  ping: () => ({}),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  const result = results[method]?.(params);
  if (result) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
