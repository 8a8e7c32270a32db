// Writes `src/generated/`: the types of the REST API and of the WebSocket frames, from the documents that the server
// sends (`/openapi.json`, `/asyncapi.json`), whose reviewed copies are in `tests/api/golden/`. With `--check` it compares
// instead, and fails when they differ.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import openapiTS, { astToString } from 'openapi-typescript';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const golden = async (name) => JSON.parse(await readFile(at(`../../tests/api/golden/${name}.json`), 'utf8'));

/** The schema of sent values: a member that has a default is always present. */
function sent(schema) {
  if (Array.isArray(schema)) return schema.map(sent);
  if (typeof schema !== 'object' || schema === null) return schema;
  const copy = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, sent(value)]));
  if (schema.type !== 'object' || !schema.properties) return copy;
  const present = Object.entries(schema.properties).flatMap(([name, { default: value }]) =>
    value === undefined ? [] : name,
  );
  return { ...copy, required: [...new Set([...(schema.required ?? []), ...present])] };
}

/** Schemas and payloads of messages as one OpenAPI document, which the generator reads. */
function asOpenApi({ info, operations, components }) {
  const requests = new Set(operations.receiveClientMessages.messages.map(({ $ref }) => $ref.split('/').at(-1)));
  const schemas = sent(components.schemas);
  const payloads = Object.entries(components.messages).map(([id, { payload }]) => [
    id,
    requests.has(id) ? payload : sent(payload),
  ]);
  for (const [id] of payloads) if (id in schemas) throw new Error(`${id} is a schema and a message`);
  return {
    openapi: '3.1.0',
    info,
    paths: {},
    components: { schemas: { ...schemas, ...Object.fromEntries(payloads) } },
  };
}

async function typesOf(name, document) {
  // A request may omit a member that has a default.
  const ast = await openapiTS(document, { defaultNonNullable: false });
  return `// Generated from /${name}.json by \`npm run client:types\`.\n\n${astToString(ast)}`;
}

const generated = {
  'src/generated/openapi.ts': await typesOf('openapi', await golden('openapi')),
  'src/generated/asyncapi.ts': await typesOf('asyncapi', asOpenApi(await golden('asyncapi'))),
};
for (const [path, text] of Object.entries(generated)) {
  if (!process.argv.includes('--check')) await writeFile(at(path), text);
  else if ((await readFile(at(path), 'utf8')) !== text)
    throw new Error(`${path} differs: run \`npm run client:types\``);
}
