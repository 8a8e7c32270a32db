/** Builds `/openapi.json` from the endpoint definitions that run. */
import * as z from 'zod';
import type { BindOptions } from '#server/app/options.ts';
import { errorEntry } from '#server/errors/catalogue.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { createComponents } from '#schema/json-schema.ts';
import type { Components, JsonSchema } from '#schema/json-schema.ts';
import { declaredErrors } from '../endpoint.ts';
import type { EndpointEntry } from '../http/route-table.ts';
import { publicPath } from '../http/route-table.ts';
import type { Endpoint } from '#utils/endpoint-definition.ts';

/** The first tags of the document, in its order; others follow by name. */
const TAG_ORDER = [
  'meta',
  'auth',
  'models',
  'providers',
  'sessions',
  'v2-sessions',
  'workspaces',
  'messages',
  'search',
  'transcript',
  'prompts',
  'approvals',
  'questions',
  'tools',
  'tasks',
  'terminals',
  'fs',
  'files',
  'config',
  'skills',
  'plugins',
  'capabilities',
  'connections',
  'remote-control',
  'v2-mcp',
];

/** Tags of the document that no endpoint has. */
const UNUSED_TAGS = new Map([
  ['plugins', 'Plugins'],
  ['capabilities', 'Capabilities'],
  ['remote-control', 'Remote control'],
]);

const text: JsonSchema = { type: 'string' };
const fieldDetails: JsonSchema = {
  type: 'array',
  items: { type: 'object', properties: { path: text, message: text }, required: ['path', 'message'] },
};

function envelope(code: number, data: JsonSchema, details?: JsonSchema): JsonSchema {
  const properties: Record<string, JsonSchema> = {
    code: { type: 'integer', const: code },
    msg: code === 0 ? { type: 'string', const: 'success' } : text,
    data,
    request_id: text,
  };
  if (details) properties.details = details;
  return { type: 'object', properties, required: ['code', 'msg', 'data', 'request_id'] };
}

function errorEnvelope(name: ErrorName, components: Components): JsonSchema {
  const { code, data, detailsObject } = errorEntry(name);
  const details = name === 'validation.failed' ? fieldDetails : detailsObject ? { type: 'object' } : undefined;
  if (data) return envelope(code, components.convert(data, 'output'), details);
  return components.named(`Error${code}`, envelope(code, { type: 'null' }, details));
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });
const oneOf = (schemas: JsonSchema[]): JsonSchema =>
  schemas.length === 1 && schemas[0] ? schemas[0] : { oneOf: schemas };

/** Responses of the failures of an operation that have a separate HTTP status. */
function failureResponses({ definition }: Endpoint, components: Components): JsonSchema {
  const responses: JsonSchema = {};
  for (const status of new Set(Object.values(definition.failureStatuses ?? {}))) {
    const names = declaredErrors({ definition }).filter((name) => definition.failureStatuses?.[name] === status);
    const envelopes = names.map((name) => errorEnvelope(name, components));
    responses[status] = { description: 'Failure', content: json(oneOf(envelopes)) };
  }
  return responses;
}

function rawResponses(endpoint: Endpoint, errors: JsonSchema[], components: Components): JsonSchema {
  const { raw } = endpoint.definition;
  if (!raw) return {};
  const schema: JsonSchema = raw.schema
    ? components.convert(raw.schema, 'output')
    : raw.contentType === 'application/json'
      ? { type: 'object' }
      : { type: 'string', format: 'binary' };
  const headers = Object.fromEntries((raw.headers ?? []).map((name) => [name, { schema: text }]));
  const success = {
    description: 'Success',
    ...(raw.headers ? { headers } : {}),
    content: { [raw.contentType]: { schema } },
  };
  const responses: JsonSchema = {};
  for (const status of raw.statuses ?? [200]) {
    if (status === 304) responses[status] = { description: 'Not modified' };
    else if (status === 206) {
      const partial = { ...headers, 'content-range': { schema: text } };
      responses[status] = { ...success, description: 'A part of it', headers: partial };
    } else responses[status] = success;
  }
  if (errors.length > 0) responses['200'] = { ...success, content: { ...success.content, ...json(oneOf(errors)) } };
  return responses;
}

function responsesOf(endpoint: Endpoint, components: Components): JsonSchema {
  const { definition } = endpoint;
  const { failureStatuses = {} } = definition;
  const errors = declaredErrors(endpoint)
    .filter((name) => failureStatuses[name] === undefined)
    .map((name) => errorEnvelope(name, components));
  if (definition.raw) {
    return { ...rawResponses(endpoint, errors, components), ...failureResponses(endpoint, components) };
  }

  const { status = 200 } = definition;
  const failed = { description: 'Failure', content: json(oneOf(errors)) };
  if (status === 204)
    return { ...(errors.length > 0 ? { 200: failed } : {}), 204: { description: 'Done, no content' } };
  const data: JsonSchema = definition.data ? components.convert(definition.data, 'output') : { type: 'null' };
  const success = envelope(0, data);
  if (status === 201) {
    return { ...(errors.length > 0 ? { 200: failed } : {}), 201: { description: 'Created', content: json(success) } };
  }
  return { 200: { description: 'Success or failure, by `code`', content: json(oneOf([success, ...errors])) } };
}

const objectShape = z.object({
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
  required: z.array(z.string()).default([]),
});

function parametersOf(route: string, { definition }: Endpoint, components: Components): JsonSchema[] {
  const parameters: JsonSchema[] = [];
  for (const [, name] of route.matchAll(/:([^/]+)/g)) {
    parameters.push({ name, in: 'path', required: true, schema: { type: 'string', minLength: 1 } });
  }
  if (definition.query) {
    const { properties, required } = objectShape.parse(components.inline(definition.query, 'input'));
    for (const [name, { description, ...schema }] of Object.entries(properties)) {
      parameters.push({
        name,
        in: 'query',
        required: required.includes(name),
        ...(description === undefined ? {} : { description }),
        schema,
      });
    }
  }
  return parameters;
}

function operation(route: string, endpoint: Endpoint, components: Components): JsonSchema {
  const { definition } = endpoint;
  const { tag, summary, description, operationId, body, bodyRequired = true, form } = definition;
  const parameters = parametersOf(route, endpoint, components);
  return {
    ...(tag ? { tags: [tag] } : {}),
    summary,
    ...(description ? { description } : {}),
    ...(operationId ? { operationId } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body ? { requestBody: { required: bodyRequired, content: json(components.convert(body, 'input')) } } : {}),
    ...(form
      ? {
          requestBody: {
            required: true,
            content: { 'multipart/form-data': { schema: components.inline(form, 'input') } },
          },
        }
      : {}),
    responses: responsesOf(endpoint, components),
  };
}

/** `/sessions/:session_id/actions/fork` as `/sessions/{session_id}:fork`. */
const templated = (route: string) => publicPath(route.replaceAll(/(?:\*\*)?:([^/]+)/g, '{$1}'));

/** The tags with their descriptions, each from one of its endpoints. */
function tagsOf(endpoints: readonly Endpoint[]): JsonSchema[] {
  const descriptions = new Map(UNUSED_TAGS);
  for (const { definition } of endpoints) {
    const { tag, tagDescription } = definition;
    if (tag !== undefined && tagDescription !== undefined) descriptions.set(tag, tagDescription);
  }
  const names = new Set([...TAG_ORDER, ...[...descriptions.keys()].toSorted()]);
  return [...names].map((name) => ({ name, description: descriptions.get(name) }));
}

/** The document of one server: every mounted endpoint of the table, paths in alphabetical order. */
export async function openApiDocument(
  entries: EndpointEntry[],
  bind: BindOptions,
  { version, basePath }: { version: string; basePath: string },
): Promise<JsonSchema> {
  const components = createComponents('#/components/schemas/');
  const paths: Record<string, Record<string, JsonSchema>> = {};
  const loaded = await Promise.all(
    entries.map(async (entry) => ({ ...entry, endpoint: (await entry.load()).default })),
  );
  const listed = loaded
    .filter(({ endpoint }) => endpoint.definition.mounted?.(bind) ?? true)
    .sort((a, b) => (a.route < b.route ? -1 : a.route > b.route ? 1 : 0));
  for (const { route, method, endpoint } of listed) {
    const path = templated(route);
    paths[path] = { ...paths[path], [method]: operation(route, endpoint, components) };
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Service Code Server API',
      version,
      description: 'JSON replies are wrapped in `{ code, msg, data, request_id }`; `code` 0 is success.',
    },
    ...(basePath === '' ? {} : { servers: [{ url: basePath }] }),
    tags: tagsOf(loaded.map(({ endpoint }) => endpoint)),
    paths,
    components: { schemas: components.schemas() },
  };
}
