/**
 * Validation of argument schemas of servers. A schema is foreign code: compiling it, or matching its expressions, may
 * take forever. So a worker thread does both, one task at a time, and is terminated when a task takes too long.
 */
import { createHash } from 'node:crypto';
import * as z from 'zod';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { isRecord } from '#server/text/json.ts';
import { createThread, ThreadError } from '#server/threads/thread.ts';
import { isPlain, plainProblem, type ArgumentSchema } from './plain-schemas.ts';
import type { Draft, SchemaRequest } from './schema-messages.ts';

export const MAX_SCHEMA_BYTES = 256 * 1024;
/** Time-out of one schema, or of the arguments of one call. */
const WORK_MS = 100;
/** Time-out of the second attempt: on a busy machine a thread waits longer than it works. */
const RETRY_MS = 500;
/** The problem of a schema that takes longer. */
export const TOO_SLOW = `it takes longer than ${WORK_MS} ms`;
/** Time-out of loading the library, which happens a single time for each thread. */
const LOAD_MS = 10_000;
/** How long an idle thread is kept alive. */
const IDLE_MS = 30_000;
const MEMORY_MB = 96;
const KNOWN_VERDICTS = 5000;

const problemSchema = z.string().optional();

export interface Schemas {
  /** Checks a tool's schema; `problem` is the reason of its rejection. */
  check(schema: unknown): Promise<ArgumentSchema | { problem: string }>;
  /** The problem of the arguments, undefined when they fit. */
  problemOf(schema: ArgumentSchema, args: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}

/** The thread is started by the first task. */
export function createSchemas(): Schemas {
  /** Cached verdicts by hash: the problem of a rejected schema, undefined for an accepted one. */
  const verdicts = new Map<string, string | undefined>();
  const thread = createThread({
    name: 'schemas',
    program: () => import('./schema-program.ts?thread'),
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  let idle: NodeJS.Timeout | undefined;
  const queue = createSerialQueue();
  let closed = false;

  /** Rejects with `ThreadError` if there is no answer in time, or the thread ends, e.g. because it has no memory left. */
  async function attempt(request: SchemaRequest, timeoutMs: number): Promise<string | undefined> {
    clearTimeout(idle);
    await thread.request({ kind: 'load', drafts: request.drafts }, { timeoutMs: LOAD_MS });
    const problem = problemSchema.parse(await thread.request(request, { timeoutMs }));
    idle = setTimeout(() => void thread.terminate(), IDLE_MS).unref();
    return problem;
  }

  async function attemptTwice(request: SchemaRequest): Promise<string | undefined> {
    for (const timeoutMs of [WORK_MS, RETRY_MS]) {
      if (closed) break;
      try {
        return await attempt(request, timeoutMs);
      } catch (error) {
        if (!(error instanceof ThreadError)) throw error;
      }
    }
    return TOO_SLOW;
  }

  /** Runs requests serially, so that the time of one is not charged to another. */
  const run = (request: SchemaRequest): Promise<string | undefined> => queue.run(() => attemptTwice(request));

  return {
    async check(schema) {
      if (!isRecord(schema) || schema.type !== 'object') return { problem: 'it is no schema of an object' };
      const text = JSON.stringify(schema);
      if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES) return { problem: `it is above ${MAX_SCHEMA_BYTES} bytes` };
      const hash = createHash('sha256').update(text).digest('hex');
      if (!verdicts.has(hash)) {
        const problem = await run({ kind: 'compile', drafts: draftsOf(schema), text });
        if (closed) return { problem: 'the server is stopping' };
        if (verdicts.size >= KNOWN_VERDICTS) verdicts.clear();
        verdicts.set(hash, problem);
      }
      const problem = verdicts.get(hash);
      if (problem !== undefined) return { problem };
      const { $schema: _draft, ...parameters } = schema;
      // Some vendors reject an object schema without `properties`.
      return { text, hash, parameters: { ...parameters, properties: parameters.properties ?? {} } };
    },
    async problemOf(schema, args) {
      const { text, hash } = schema;
      if (isPlain(text)) return plainProblem(schema, args);
      return run({ kind: 'validate', drafts: draftsIn(text), text, hash, args: JSON.stringify(args) });
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await thread.terminate();
    },
  };
}

/** The drafts to try: without `$schema` the current one, then the one that most older libraries write. */
function draftsOf({ $schema }: Record<string, unknown>): Draft[] {
  if (typeof $schema !== 'string') return ['2020-12', 'draft-07'];
  if ($schema.includes('2019-09')) return ['2019-09'];
  return /draft-0[467]/.test($schema) ? ['draft-07'] : ['2020-12'];
}

const draftsIn = (text: string): Draft[] => draftsOf(z.looseObject({}).parse(JSON.parse(text)));
