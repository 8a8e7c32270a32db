/**
 * Validation of argument schemas of servers. A schema is foreign code: compiling it, or matching its expressions, may
 * take forever. So a worker thread does both, one task at a time, and is terminated when a task takes too long.
 */
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';
import { createSerialQueue } from '#server/async/keyed-queue.ts';
import { isRecord } from '#server/text/json.ts';
import { isPlain, plainProblem, type ArgumentSchema } from './plain-schemas.ts';
import { SCHEMA_PROGRAM } from './schema-program.ts';

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

const draftFiles = { 'draft-07': 'ajv', '2019-09': 'ajv/dist/2019.js', '2020-12': 'ajv/dist/2020.js' };
type Draft = keyof typeof draftFiles;

const answerSchema = z.object({ id: z.int(), problem: z.string().optional() });

export interface Schemas {
  /** Checks a tool's schema; `problem` is the reason of its rejection. */
  check(schema: unknown): Promise<ArgumentSchema | { problem: string }>;
  /** The problem of the arguments, undefined when they fit. */
  problemOf(schema: ArgumentSchema, args: unknown): Promise<string | undefined>;
  close(): Promise<void>;
}

type Work = { kind: 'load' | 'compile' | 'validate'; names: Draft[]; text?: string; hash?: string; args?: string };

interface Thread {
  worker: Worker;
  /** Undefined if there is no answer in time, or the thread has exited. */
  ask(work: Work, ms: number): Promise<{ problem?: string | undefined } | undefined>;
}

/** The thread is started by the first task. */
export function createSchemas(): Schemas {
  /** Cached verdicts by hash: the problem of a rejected schema, undefined for an accepted one. */
  const verdicts = new Map<string, string | undefined>();
  let thread: Thread | undefined;
  let idle: NodeJS.Timeout | undefined;
  const queue = createSerialQueue();
  let closed = false;

  async function end(): Promise<void> {
    clearTimeout(idle);
    const { worker } = thread ?? {};
    thread = undefined;
    await worker?.terminate();
  }

  async function attempt(work: Work, ms: number): Promise<{ problem?: string | undefined } | undefined> {
    clearTimeout(idle);
    thread ??= startThread();
    await thread.ask({ kind: 'load', names: work.names }, LOAD_MS);
    const answer = await thread.ask(work, ms);
    if (!answer) await end();
    else idle = setTimeout(() => void end(), IDLE_MS).unref();
    return answer;
  }

  async function tried(work: Work): Promise<string | undefined> {
    for (const ms of [WORK_MS, RETRY_MS]) {
      if (closed) break;
      const answer = await attempt(work, ms);
      if (answer) return answer.problem;
    }
    return TOO_SLOW;
  }

  /** Runs tasks serially, so that the time of one is not charged to another. */
  const run = (work: Work): Promise<string | undefined> => queue.run(() => tried(work));

  return {
    async check(schema) {
      if (!isRecord(schema) || schema.type !== 'object') return { problem: 'it is no schema of an object' };
      const text = JSON.stringify(schema);
      if (Buffer.byteLength(text) > MAX_SCHEMA_BYTES) return { problem: `it is above ${MAX_SCHEMA_BYTES} bytes` };
      const hash = createHash('sha256').update(text).digest('hex');
      if (!verdicts.has(hash)) {
        const problem = await run({ kind: 'compile', names: draftsOf(schema), text });
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
      return run({ kind: 'validate', names: draftsIn(text), text, hash, args: JSON.stringify(args) });
    },
    async close() {
      closed = true;
      await end();
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

function startThread(): Thread {
  const { resolve } = createRequire(import.meta.url);
  const files = Object.fromEntries(Object.entries(draftFiles).map(([draft, file]) => [draft, resolve(file)]));
  const worker = new Worker(SCHEMA_PROGRAM, {
    eval: true,
    workerData: files,
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
  });
  worker.unref();
  let last = 0;
  return {
    worker,
    ask(work, ms) {
      const id = ++last;
      return new Promise((resolveAsk) => {
        const settle = (answer?: { problem?: string | undefined }) => {
          clearTimeout(timer);
          worker.off('message', onMessage).off('error', onEnd).off('exit', onEnd);
          resolveAsk(answer);
        };
        const onMessage = (message: unknown) => {
          const answer = answerSchema.parse(message);
          if (answer.id === id) settle(answer);
        };
        const onEnd = () => settle();
        // Messages that arrived meanwhile are processed before the time-out.
        const timer = setTimeout(() => setImmediate(onEnd), ms);
        worker.on('message', onMessage).on('error', onEnd).on('exit', onEnd);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
        worker.postMessage({ ...work, id });
      });
    },
  };
}
