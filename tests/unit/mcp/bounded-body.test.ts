/** The lines of an event stream that are charged: all but the data of messages. */
import { expect, test } from 'vitest';
import { boundedBody } from '#server/mcp/bounded-body.ts';

async function read(chunks: string[], admit: (lines: number) => boolean = () => true) {
  let charged = 0;
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(new TextEncoder().encode(chunk));
      controller.close();
    },
  });
  const response = new Response(body, { headers: { 'content-type': 'text/event-stream' } });
  const bounded = boundedBody(response, {
    maxBytes: 1024 * 1024,
    charge(lines) {
      charged += lines;
      if (!admit(charged)) throw new Error('too many lines');
    },
  });
  const text = await bounded.text();
  return { charged, text };
}

const MESSAGE = 'event: message\nid: 1\ndata: {"a":\ndata: 1}\n\n';

test.each([
  ['messages, without their data', MESSAGE.repeat(10), 30],
  ['a message of many lines', `data: [\n${'data: 1,\n'.repeat(5000)}data: 1]\n\n`, 1],
  ['comments', ':\n'.repeat(10), 10],
  ['empty lines', '\n'.repeat(10), 10],
  ['empty lines of the other kinds', '\r\r\r\n\r\n', 4],
  ['fields without an event', 'id: 1\nretry: 5\nevent: x\ndatabase: 5\nnone\n', 5],
  ['events of other types, by their data', `event: other\ndata: ${'x'.repeat(10 * 1024)}\n\n`, 12],
  ['long comments', `: ${'x'.repeat(10 * 1024)}\n`, 11],
  ['data fields without a value', 'data\ndata:\n', 0],
])('charges %s', async (_what, text, lines) => {
  expect((await read([text])).charged).toBe(lines);
  // One character at a time: a line end of two characters may count twice.
  const single = await read([...text]);
  if (!text.includes('\r\n')) expect(single.charged).toBe(lines);
});

test('passes events on, and fails when a charge is refused', async () => {
  const passed = await read([': hello\n', MESSAGE, 'event: other\ndata: x\n\n']);
  expect(passed.text).toBe('event: message\nid: 1\ndata: {"a":\ndata: 1}\n\nevent: other\ndata: x\n\n');
  await expect(read([MESSAGE, ':\n'.repeat(100)], (charged) => charged < 100)).rejects.toThrow('too many lines');
});
