/**
 * Source of the worker thread that compiles and matches foreign schemas. It is a string, since the built server is one
 * bundle without a file for it. Each schema gets a separate validator, so that `$id`s of one do not resolve in another.
 */
export const SCHEMA_PROGRAM = `
const { parentPort, workerData } = require('node:worker_threads');
const common = { strict: false, logger: false, validateFormats: false };
const drafts = new Map();
const compiled = new Map();
const KEPT = 100;

function draftOf(name) {
  let draft = drafts.get(name);
  if (!draft) {
    const { default: Ajv } = require(workerData[name]);
    draft = { Ajv, meta: new Ajv(common) };
    draft.meta.validateSchema({ type: 'object', properties: { a: { type: 'string' } } });
    new Ajv({ ...common, meta: false, validateSchema: false }).compile({ type: 'object' });
    drafts.set(name, draft);
  }
  return draft;
}

function compileAs(name, schema) {
  const { Ajv, meta } = draftOf(name);
  if (!meta.validateSchema(schema)) throw new Error(meta.errorsText(meta.errors));
  return new Ajv({ ...common, allErrors: true, meta: false, validateSchema: false, addUsedSchema: false }).compile(schema);
}

function compile({ text, names }) {
  const { $schema, ...schema } = JSON.parse(text);
  let first;
  for (const name of names) {
    try {
      return compileAs(name, schema);
    } catch (error) {
      first = first || error;
    }
  }
  throw first;
}

function describe({ instancePath, message, keyword, params }) {
  const path = instancePath.slice(1).replaceAll('/', '.');
  const extra = keyword === 'additionalProperties' ? ': ' + params.additionalProperty : '';
  return (path ? path + ': ' : '') + message + extra;
}

function validate(job) {
  let check = compiled.get(job.hash);
  if (!check) {
    check = compile(job);
    if (compiled.size >= KEPT) compiled.delete(compiled.keys().next().value);
    compiled.set(job.hash, check);
  }
  return check(JSON.parse(job.args)) ? undefined : check.errors.slice(0, 20).map(describe).join('; ').slice(0, 2000);
}

const work = {
  load: ({ names }) => void names.forEach(draftOf),
  compile: (job) => void compile(job),
  validate,
};

parentPort.on('message', (job) => {
  try {
    parentPort.postMessage({ id: job.id, problem: work[job.kind](job) });
  } catch (error) {
    parentPort.postMessage({ id: job.id, problem: String((error && error.message) || error).slice(0, 500) });
  }
});
`;
