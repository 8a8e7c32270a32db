// Writes the Python client's types and operations from the served document. `npm run client:types` runs it;
// with `--check` it compares instead, and fails when they differ.
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const at = (path) => fileURLToPath(new URL(path, import.meta.url));
const TARGETS = { types: at('service_code/types.py'), operations: at('service_code/operations.py') };

const KEYWORDS = new Set(
  'False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield'.split(
    ' ',
  ),
);
const isName = (text) => /^[A-Za-z_]\w*$/.test(text) && !KEYWORDS.has(text);
const pascal = (text) => text.replaceAll(/(?:^|[^A-Za-z0-9]+)([A-Za-z0-9])/g, (_, first) => first.toUpperCase());
const singular = (word) => word.replace(/ies$/, 'y').replace(/(\w\w[^s])s$/, '$1');

/** `get_session_tasks` of `GET /api/v1/sessions/{session_id}/tasks`: a word before a parameter is singular. */
function functionName(method, path) {
  const segments = path
    .replace(/^\/api\/v1\//, '')
    .split(/[/:]/)
    .filter((segment) => segment !== '' && segment !== 'api');
  const words = segments.flatMap((segment, index) => {
    if (segment.startsWith('{')) return [];
    return segments[index + 1]?.startsWith('{') ? singular(segment) : segment;
  });
  return [method, ...words].join('_').replaceAll(/\W+/g, '_').toLowerCase();
}
const literal = (value) =>
  value === null ? 'None' : typeof value === 'boolean' ? (value ? 'True' : 'False') : JSON.stringify(value);
const PLAIN = { string: 'str', integer: 'int', number: 'float', boolean: 'bool', null: 'None' };

/** Emits a class for each object; returns the text of a type. */
function createTypes() {
  const classes = [];
  const names = new Set();

  function unique(wanted) {
    let name = wanted;
    for (let n = 2; names.has(name); n += 1) name = `${wanted}${n}`;
    names.add(name);
    return name;
  }

  function union(members, name) {
    const types = [...new Set(members.map((member, index) => typeOf(member, `${name}${index + 1}`)))];
    return types.length === 1 ? types[0] : `Union[${types.join(', ')}]`;
  }

  function typeOf(schema, name) {
    if (schema === true || Object.keys(schema ?? {}).length === 0) return 'Any';
    if (schema.$ref) return pascal(schema.$ref.split('/').at(-1));
    if ('const' in schema) return schema.const === null ? 'None' : `Literal[${literal(schema.const)}]`;
    if (schema.enum) return `Literal[${schema.enum.map(literal).join(', ')}]`;
    if (schema.anyOf || schema.oneOf) return union(schema.anyOf ?? schema.oneOf, name);
    if (schema.allOf) return schema.allOf.length === 1 ? typeOf(schema.allOf[0], name) : 'Dict[str, Any]';
    if (Array.isArray(schema.type))
      return union(
        schema.type.map((type) => ({ ...schema, type })),
        name,
      );
    if (schema.type === 'array') return `List[${schema.items ? typeOf(schema.items, `${name}Item`) : 'Any'}]`;
    if (schema.type === 'object' || schema.properties) {
      if (schema.properties && Object.keys(schema.properties).length > 0) return emit(schema, unique(name));
      const { additionalProperties: values } = schema;
      return `Dict[str, ${values && typeof values === 'object' ? typeOf(values, `${name}Value`) : 'Any'}]`;
    }
    return PLAIN[schema.type] ?? 'Any';
  }

  function emit(schema, name) {
    const required = new Set(schema.required ?? []);
    const members = Object.entries(schema.properties).map(([key, value]) => [key, typeOf(value, name + pascal(key))]);
    if (!members.every(([key]) => isName(key))) {
      const pairs = members.map(([key, type]) => `    ${JSON.stringify(key)}: ${JSON.stringify(type)},`);
      classes.push(`${name} = TypedDict(${JSON.stringify(name)}, {\n${pairs.join('\n')}\n}, total=False)`);
      return name;
    }
    const body = (list) => list.map(([key, type]) => `    ${key}: ${type}`).join('\n') || '    pass';
    const [always, maybe] = [
      members.filter(([key]) => required.has(key)),
      members.filter(([key]) => !required.has(key)),
    ];
    if (maybe.length === 0) classes.push(`class ${name}(TypedDict):\n${body(always)}`);
    else if (always.length === 0) classes.push(`class ${name}(TypedDict, total=False):\n${body(maybe)}`);
    else {
      classes.push(`class _${name}(TypedDict):\n${body(always)}`);
      classes.push(`class ${name}(_${name}, total=False):\n${body(maybe)}`);
    }
    return name;
  }

  return {
    typeOf,
    /** A named schema of the document. */
    declare(id, schema) {
      const name = pascal(id);
      if (schema.properties && !schema.anyOf && !schema.oneOf) return void emit(schema, name);
      const type = typeOf(schema, `${name}Value`);
      // Quoted: it may name classes that follow.
      classes.push(`${name} = ${type === 'Any' || PLAIN[schema.type] ? type : `Union[${JSON.stringify(type)}]`}`);
    },
    reserve: (id) => names.add(pascal(id)),
    text: () => classes.join('\n\n\n'),
  };
}

const NOTE = '# Written by clients/python/generate.mjs from the served document: do not edit.';
const dataOf = (schema) => {
  const members = schema.oneOf ?? schema.anyOf ?? [schema];
  return members.find((member) => member.properties?.code?.const === 0)?.properties.data;
};

function operationOf(method, path, operation, types) {
  const name = functionName(method, path);
  const title = pascal(name);
  const parameters = operation.parameters ?? [];
  const inPath = parameters.filter((parameter) => parameter.in === 'path');
  const inQuery = parameters.filter((parameter) => parameter.in === 'query');
  const argumentOf = (text) => {
    const found = text.replaceAll(/\W/g, '_');
    return KEYWORDS.has(found) ? `${found}_` : found;
  };
  const replies = operation.responses['200']?.content ?? operation.responses['201']?.content ?? {};
  const json = (operation.responses['201'] ?? operation.responses['200']).content?.['application/json']?.schema;
  const isRaw = Object.keys(replies).some((type) => type !== 'application/json');
  const data = json && dataOf(json);
  const body = operation.requestBody?.content?.['application/json']?.schema;
  const isForm = operation.requestBody?.content?.['multipart/form-data'] !== undefined;

  const args = ['self', ...inPath.map((parameter) => `${argumentOf(parameter.name)}: str`)];
  const isBodyRequired = operation.requestBody?.required === true;
  if (body) {
    const type = types.typeOf(body, `${title}Body`);
    args.push(isBodyRequired ? `body: ${type}` : `body: Optional[${type}] = None`);
  }
  if (isForm) args.push('file: BinaryIO', 'name: str', 'fields: Optional[Mapping[str, str]] = None');
  if (inQuery.length > 0 || isRaw) args.push('*');
  for (const { name: key, schema, required } of inQuery) {
    const type = types.typeOf(schema, `${title}${pascal(key)}`);
    args.push(required ? `${argumentOf(key)}: ${type}` : `${argumentOf(key)}: Optional[${type}] = None`);
  }
  if (isRaw) args.push('range: Optional[Tuple[int, Optional[int]]] = None');
  const target = path.replaceAll(/\{(\w+)\}/g, (_, key) => `{quote(${argumentOf(key)})}`);
  const reply = isRaw ? 'Download' : data ? types.typeOf(data, `${title}Reply`) : 'Dict[str, Any]';
  const query = `{${inQuery.map(({ name: key }) => `${JSON.stringify(key)}: ${argumentOf(key)}`).join(', ')}}`;
  const sent = [JSON.stringify(method.toUpperCase()), `f${JSON.stringify(target)}`];
  if (inQuery.length > 0) sent.push(`query=${query}`);
  if (body) sent.push('body=body');
  const call = isRaw
    ? `self._download(${[...sent, 'range=range'].join(', ')})`
    : isForm
      ? `self._upload(${sent.join(', ')}, file=file, name=name, fields=fields)`
      : data
        ? `self._request(${sent.join(', ')})`
        : `self._document(${sent.join(', ')})`;
  return [
    `    def ${name}(${args.join(', ')}) -> ${reply}:`,
    `        """${operation.summary.replaceAll('"', "'")}."""`,
    `        return ${call}`,
  ].join('\n');
}

/** The texts of the two files. */
async function generate() {
  const document = JSON.parse(await readFile(at('../../tests/api/golden/openapi.json'), 'utf8'));
  const types = createTypes();
  const { schemas } = document.components;
  for (const id of Object.keys(schemas)) types.reserve(id);
  for (const [id, schema] of Object.entries(schemas)) types.declare(id, schema);
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => operationOf(method, path, operation, types)),
  );
  return {
    types: `${NOTE}
"""Types of bodies and replies."""

from __future__ import annotations

from typing import Any, Dict, List, Literal, TypedDict, Union

${types.text()}
`,
    operations: `${NOTE}
"""A function for each operation of the server."""

from __future__ import annotations

from typing import Any, BinaryIO, Dict, List, Literal, Mapping, Optional, Tuple, Union

from .transport import Download, Transport, quote
from .types import *  # noqa: F403


class Operations(Transport):
    """The operations by the names of the served document."""

${operations.join('\n\n')}
`,
  };
}

const texts = await generate();
for (const [name, path] of Object.entries(TARGETS)) {
  if (!process.argv.includes('--check')) await writeFile(path, texts[name]);
  else if ((await readFile(path, 'utf8')) !== texts[name]) throw new Error(`${path} differs: run npm run client:types`);
}
