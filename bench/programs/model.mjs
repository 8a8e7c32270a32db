// A model server in a separate process: chat completions over real HTTP, answered by the last words of the request.
// "READ" requests one call of the Read tool, "TENFOLD" ten, "WRITE" one of the Write tool, "DELEGATE" one of the Agent tool, "FLOOD"
// streams 2,000 chunks, "DELUGE" 5,000, "PROSE", "LIST", "TABLE" and "FENCE" 100,000 characters of Markdown over some seconds, "BRIEF"
// answers with a word, any other text with a short text in chunks. `GET /last` returns the body of the last request.
import { createServer } from 'node:http';

const PIECES = 8;
const FLOODS = { flood: 2000, deluge: 5000 };

const chunk = (delta, finish = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'bench-1',
    choices: [{ index: 0, delta, finish_reason: finish }],
  })}\n\n`;
const usage = `data: ${JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [],
  usage: { prompt_tokens: 1000, completion_tokens: 50, total_tokens: 1050 },
})}\n\ndata: [DONE]\n\n`;
const begin = chunk({ role: 'assistant', content: '' });
const end = chunk({}, 'stop') + usage;

/** One chunk per write, like providers. */
const text = [begin, ...Array.from({ length: PIECES }, (_, n) => chunk({ content: `piece ${n} of the answer ` })), end];
const brief = [begin + chunk({ content: 'Well.' }) + end];
const word = chunk({ content: 'word ' });
const callOf = (name, args) => [
  begin,
  chunk({ tool_calls: [{ index: 0, id: 'call_1', type: 'function', function: { name, arguments: '' } }] }),
  chunk({ tool_calls: [{ index: 0, function: { arguments: JSON.stringify(args) } }] }),
  chunk({}, 'tool_calls') + usage,
];
const read = callOf('Read', { path: 'a.txt' });
const tenfold = [
  begin,
  ...Array.from({ length: 10 }, (_, index) =>
    chunk({
      tool_calls: [
        { index, id: `call_${index}`, type: 'function', function: { name: 'Read', arguments: '{"path":"a.txt"}' } },
      ],
    }),
  ),
  chunk({}, 'tool_calls') + usage,
];
const write = callOf('Write', { path: 'b.txt', content: 'one line\n' });
const delegate = callOf('Agent', { prompt: 'Tell me.', description: 'Telling' });

/** Long texts by their Markdown, and the pace at which they are sent. */
const LONG_CHARS = 100_000;
const LONG_CHUNK = 100;
const LONG_PACE_MS = 5;
const WORDS = 'The **server** runs `sessions` in your own [projects](https://example.org), and a page shows them. ';
const lines = (line) => Array.from({ length: Math.ceil(LONG_CHARS / line(1).length) }, (_, n) => line(n));
const LONG = {
  prose: lines((n) => WORDS.repeat(4) + (n % 2 ? '\n\n' : '\n')),
  list: lines((n) => `${' '.repeat(2 * (n % 3))}- ${n}. ${WORDS}\n`),
  table: [
    '| Number | Text | Code |\n| ---: | --- | --- |\n',
    ...lines((n) => `| ${n} | ${WORDS} | \`line(${n})\` |\n`),
  ],
  fence: [
    '```ts\n',
    ...lines((n) => `export const value${n} = (input: string) => \`\${input} ${n}\`; // ${n}\n`),
    '```\n',
  ],
};
const longText = (name) => {
  const text = LONG[name].join('').slice(0, LONG_CHARS);
  return `${text}${name === 'fence' ? '\n```' : ''}\n\nThe end of the ${name}.`;
};
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
async function writeLong(response, name) {
  const text = longText(name);
  response.write(begin);
  for (let at = 0; at < text.length && !response.destroyed; at += LONG_CHUNK) {
    response.write(chunk({ content: text.slice(at, at + LONG_CHUNK) }));
    await pause(LONG_PACE_MS);
  }
  response.end(end);
}

const ANSWERS = {
  TENFOLD: 'tenfold',
  FLOOD: 'flood',
  DELUGE: 'deluge',
  READ: 'read',
  WRITE: 'write',
  DELEGATE: 'delegate',
  BRIEF: 'brief',
  PROSE: 'prose',
  LIST: 'list',
  TABLE: 'table',
  FENCE: 'fence',
};

/**
 * Chooses the answer by the messages after the model's last one. The body is not parsed, because that would dominate
 * the cost.
 */
function answerTo(body) {
  const spoken = Math.max(body.lastIndexOf('"role":"assistant"'), body.lastIndexOf('"role":"tool"'), 0);
  const tools = body.indexOf('"tools":[', spoken);
  const asked = body.toString('utf8', spoken, tools === -1 ? body.length : tools);
  const word = Object.keys(ANSWERS).find((each) => asked.includes(each));
  return word ? ANSWERS[word] : 'text';
}

let last = Buffer.alloc(0);
const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.end(last);
  const chunks = [];
  request.on('data', (data) => chunks.push(data));
  request.on('end', () => {
    last = Buffer.concat(chunks);
    const answer = answerTo(last);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (answer in LONG) return void writeLong(response, answer);
    if (answer in FLOODS) {
      response.write(begin);
      // Several writes, so that the reader receives several chunks.
      for (let n = 0; n < FLOODS[answer]; n += 20) response.write(word.repeat(20));
      response.end(end);
      return;
    }
    for (const piece of { read, tenfold, write, delegate, brief, text }[answer]) response.write(piece);
    response.end();
  });
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
