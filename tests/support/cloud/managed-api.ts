/** The cloud's managed API: models, usage, user and tools, for requests with an access token. */
import type { CloudPart, CloudReply } from './cloud.ts';
import type { CloudOAuth } from './oauth.ts';

export type ManagedPath = '/models' | '/usages' | '/me' | '/tools';
type Answer = CloudReply | 'hang' | (() => Promise<CloudReply | 'hang'>);

export interface CloudManagedApi {
  /** Answers `/managed/v1/…`. */
  part: CloudPart;
  /** The replies to requests with an accepted token; tests replace them. */
  answers: Record<ManagedPath, Answer>;
}

const METHODS: Record<ManagedPath, string> = { '/models': 'GET', '/usages': 'GET', '/me': 'GET', '/tools': 'POST' };
const isPath = (path: string): path is ManagedPath => path in METHODS;

/** A listing with one model, no usage, a user without a name, and a fixed title. */
export function createCloudManagedApi(oauth: CloudOAuth): CloudManagedApi {
  const answers: CloudManagedApi['answers'] = {
    '/models': { body: { data: [{ id: 'm1', context_length: 1000, supports_reasoning: true }] } },
    '/usages': { body: { usages: {}, extraUsage: null } },
    '/me': { body: { user_id: 'u1' } },
    '/tools': { body: { title: 'A title' } },
  };
  return {
    answers,
    async part({ method, path, headers }) {
      const resource = path.replace(/^\/managed\/v1/, '');
      if (resource === path || !isPath(resource) || method !== METHODS[resource]) return undefined;
      if (!oauth.accepts(headers)) {
        return {
          status: 401,
          headers: { 'www-authenticate': 'Bearer error="invalid_token"' },
          // A careless cloud quotes the token.
          body: { error: { type: 'invalid_token', message: `Not accepted: ${headers.authorization}` } },
        };
      }
      const answer = answers[resource];
      return typeof answer === 'function' ? answer() : answer;
    },
  };
}
