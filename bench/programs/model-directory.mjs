// A server of a generated model directory, and of documents that no reader should accept, by the path of the request.
import { createServer } from 'node:http';
import { gzipSync } from 'node:zlib';

const PROVIDERS = 100;
const MODELS = 50;
const MEGABYTE = 1_000_000;

const modelOf = (provider, n) => ({
  id: `vendor-${provider}/model-${n}-instruct-2026-01-01`,
  name: `Model ${n} of vendor ${provider}`,
  family: `family-${n % 7}`,
  attachment: true,
  release_date: '2026-01-01',
  reasoning: n % 2 === 0,
  tool_call: true,
  reasoning_options: n % 2 === 0 ? [{ type: 'effort', values: ['none', 'low', 'medium', 'high'] }] : [],
  limit: { context: 200_000, output: 64_000 },
  modalities: { input: ['text', 'image'], output: ['text'] },
  cost: { input: 1.25, output: 10, cache_read: 0.125, tiers: [{ input: 2.5, output: 15 }] },
});

function documentOf() {
  const document = {};
  for (let provider = 0; provider < PROVIDERS; provider += 1) {
    const models = Array.from({ length: MODELS }, (_, n) => modelOf(provider, n));
    document[`provider-${provider}`] = {
      id: `provider-${provider}`,
      name: `Provider ${provider}`,
      npm: '@ai-sdk/openai-compatible',
      api: `https://api.provider-${provider}.example/v1`,
      env: [`PROVIDER_${provider}_API_KEY`],
      models: Object.fromEntries(models.map((model) => [model.id, model])),
    };
  }
  return JSON.stringify(document);
}

const document = documentOf();
const bomb = gzipSync(Buffer.alloc(200 * MEGABYTE, ' '));
const large = Buffer.alloc(MEGABYTE, ' ');

function sendLarge(response, left) {
  if (left === 0) response.end();
  else response.write(large, () => sendLarge(response, left - 1));
}

const answers = {
  '/api.json': (response) => response.end(document),
  '/large': (response) => sendLarge(response, 50),
  '/page': (response) => response.end('<html>'.repeat(1000)),
  '/bomb': (response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb),
  '/redirect': (response) => response.writeHead(302, { location: '/redirect' }).end(),
  '/drip': (response) => {
    const drip = setInterval(() => response.write(' '), 100);
    response.once('close', () => clearInterval(drip));
  },
};

const server = createServer((request, response) => {
  response.on('error', () => undefined);
  answers[request.url]?.(response);
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
