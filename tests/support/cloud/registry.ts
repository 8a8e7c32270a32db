/** Documents of custom registries, and the managed API's list of models. */
import type { CloudPart, CloudReply } from './cloud.ts';

export interface CloudRegistry {
  /** Answers `GET <path>`. */
  part: CloudPart;
  /** The document; tests replace it. */
  document: unknown;
  /** Keys that are accepted; undefined accepts any request. */
  keys: string[] | undefined;
  /** Replaces the next answers. */
  answerNext(...replies: (CloudReply | 'hang')[]): void;
}

/** A registry that serves its document to requests with one of its keys. */
export function createCloudRegistry(document: unknown, path = '/registry.json'): CloudRegistry {
  const scripted: (CloudReply | 'hang')[] = [];
  const registry: CloudRegistry = {
    document,
    keys: undefined,
    answerNext: (...replies) => void scripted.push(...replies),
    part(request) {
      if (request.method !== 'GET' || request.path !== path) return undefined;
      const next = scripted.shift();
      if (next) return next;
      const key = (request.headers.authorization ?? '').replace(/^Bearer /, '');
      if (registry.keys && !registry.keys.includes(key)) {
        return { status: 401, body: { error: { message: `the key ${key} is not valid` } } };
      }
      const text = typeof registry.document === 'string' ? registry.document : JSON.stringify(registry.document);
      return { body: text, headers: { 'content-type': 'application/json' } };
    },
  };
  return registry;
}

/** An entry of a registry's document; `models` by the part of their aliases, which is their wire id unless they have one. */
export const registryEntry = (id: string, models: Record<string, object>, more: object = {}) => ({
  id,
  name: `${id} name`,
  api: 'http://127.0.0.1:9/v1',
  type: 'openai',
  models: Object.fromEntries(Object.entries(models).map(([key, model]) => [key, { id: key, ...model }])),
  ...more,
});

export interface CloudModels {
  /** Answers `GET /managed/v1/models`. */
  part: CloudPart;
  /** The list; tests replace it. */
  data: unknown;
}

/** `accepts`: whether a request is authorized. */
export function createCloudModels(
  data: unknown,
  accepts: (headers: { authorization?: string }) => boolean,
): CloudModels {
  const models: CloudModels = {
    data,
    part(request) {
      if (request.method !== 'GET' || request.path !== '/managed/v1/models') return undefined;
      if (!accepts(request.headers)) return { status: 401, body: { error: { message: 'the token is not valid' } } };
      return { body: { data: models.data } };
    },
  };
  return models;
}
