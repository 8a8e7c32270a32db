/** Requests of the tests of stored homes, with schemas that the replies of all builds match. */
import * as z from 'zod';
import type { BuiltHome } from './built-home.ts';
import { comparable } from './home-fixture.ts';
import { eventually, until } from './patience.ts';
import type { SpawnedServer } from './spawned-server.ts';

const page = z.looseObject({ items: z.array(z.looseObject({})) });
const prompts = z.object({ active: z.null(), queued: z.tuple([]) });
const readSchema = z.looseObject({ messages: z.array(z.looseObject({ id: z.string() })) });
const transcript = z.looseObject({ agents: z.array(z.looseObject({ agentId: z.string() })) });

export interface HomeRequests {
  /** The data of a reply that must succeed. */
  ok(method: string, path: string, body?: unknown): Promise<unknown>;
  prompt(session: string, text: string, more?: object): Promise<unknown>;
  /** Resolves when the session is idle and has no prompt. */
  idle(session: string): Promise<void>;
  /** Id of the first pending approval or question. */
  pending(session: string, kind: 'approval' | 'question'): Promise<string>;
  /** All that clients read of a session that is not loaded, as a fixture has it. */
  read(session: string): Promise<z.infer<typeof readSchema>>;
}

/** Requests to the server of a home. */
export function homeRequests(server: SpawnedServer, place: BuiltHome): HomeRequests {
  async function ok(method: string, path: string, body?: unknown): Promise<unknown> {
    const { code, msg, data } = await server.api(method, path, body);
    if (code !== 0) throw new Error(`${method} ${path}: ${code} ${msg}`);
    return data;
  }
  return {
    ok,
    prompt: (id, text, more = {}) =>
      ok('POST', `/sessions/${id}/prompts`, { content: [{ type: 'text', text }], ...more }),
    idle: (id) =>
      eventually(async () => {
        prompts.parse(await ok('GET', `/sessions/${id}/prompts`));
        z.looseObject({ busy: z.literal(false) }).parse(await ok('GET', `/sessions/${id}`));
      }),
    async pending(id, kind) {
      const first = async () => page.parse(await ok('GET', `/sessions/${id}/${kind}s?status=pending`)).items[0];
      return String((await until(first, `${kind} of ${id}`))[`${kind}_id`]);
    },
    async read(id) {
      const of = (path: string) => ok('GET', `/sessions/${id}${path}`);
      const transcriptOf = async (agent: string) =>
        transcript.parse(await of(`/transcript?agent_id=${agent}&page_size=100`));
      const { agents } = await transcriptOf('main');
      const read = {
        session: await of(''),
        status: await of('/status'),
        tasks: await of('/tasks'),
        messages: page.parse(await of('/messages?page_size=100')).items,
        transcripts: await Promise.all(agents.map(({ agentId }) => transcriptOf(agentId))),
      };
      return readSchema.parse(comparable(read, place));
    },
  };
}
