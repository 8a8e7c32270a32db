/** `service-code run`: runs one prompt and prints the answer. */
import { fstatSync } from 'node:fs';
import { resolve } from 'node:path';
import * as z from 'zod';
import { readArguments, usageText, type CommandDefinition } from '#server/cli/arguments.ts';
import { findServer, serverArgs, serverOptions } from '#server/cli/find-server.ts';
import { startFailureText } from '#server/errors/start-error.ts';
import { transportOf } from '#server/cli/transport.ts';
import { endProcess } from '#server/processes/process-exit.ts';
import { runPrompt } from '../../../clients/run/main.ts';
import { BAD_USE, INTERRUPTED } from '../../../clients/run/exit-codes.ts';
import { failedResult, resultLine } from '../../../clients/run/result.ts';
import type { Command, Program } from './command.ts';

const MODES = ['manual', 'auto', 'yolo'] as const;

const args = {
  prompt: { type: 'positional', required: false, description: 'The prompt; - or nothing: it is piped' },
  cwd: { type: 'string', valueHint: 'folder', description: 'Project folder; default: the current one' },
  session: { type: 'string', valueHint: 'id', description: 'Continue this session' },
  continue: { type: 'boolean', description: 'Continue the newest session of the folder' },
  model: { type: 'string', valueHint: 'id', description: 'Model; default: that of the session or the configuration' },
  effort: { type: 'string', valueHint: 'effort', description: 'Thinking effort of the model' },
  'permission-mode': { type: 'string', valueHint: MODES.join('|'), description: 'Default: manual' },
  file: { type: 'string', valueHint: 'path', description: 'Attach a file; repeatable' },
  timeout: { type: 'string', valueHint: 'seconds', description: 'Cancel the turn after this time' },
  json: { type: 'boolean', description: 'Print one JSON object a line: the session, its events, the result' },
  approvals: {
    type: 'string',
    valueHint: 'deny|stdin',
    description: 'deny (default): reject what needs an approval; stdin: read answers as JSON lines (with --json)',
  },
  'allow-denied': { type: 'boolean', description: 'Exit with 0 although calls were denied' },
  ...serverArgs,
} as const;

const schema = serverOptions
  .extend({
    cwd: z.string().optional(),
    session: z.string().min(1).optional(),
    continue: z.boolean().default(false),
    model: z.string().min(1).optional(),
    effort: z.string().min(1).optional(),
    'permission-mode': z.enum(MODES, `expected one of ${MODES.join(', ')}`).default('manual'),
    file: z.array(z.string()).default([]),
    timeout: z
      .string()
      .regex(/^\d+(\.\d+)?$/, 'expected a number of seconds')
      .transform(Number)
      .refine((seconds) => seconds > 0 && seconds < 2_000_000, 'expected a number from 0 to 2000000')
      .optional(),
    json: z.boolean().default(false),
    approvals: z.enum(['deny', 'stdin'], 'expected deny or stdin').default('deny'),
    'allow-denied': z.boolean().default(false),
    _: z.array(z.string()).max(1, 'expected one prompt; quote it'),
  })
  .refine(({ approvals, json }) => approvals === 'deny' || json, { path: ['approvals'], error: 'stdin needs --json' })
  .refine(({ approvals, _: [prompt] }) => approvals === 'deny' || (prompt !== undefined && prompt !== '-'), {
    path: ['approvals'],
    error: 'stdin has the answers, so the prompt must be an argument',
  })
  .refine(({ session, continue: continues }) => session === undefined || !continues, {
    path: ['continue'],
    error: 'cannot be combined with --session',
  });

const definition: CommandDefinition<z.infer<typeof schema>> = {
  name: 'run',
  description: 'Run one prompt in a session and print the answer',
  args,
  repeatable: ['file'],
  schema,
};

/** Whether something is piped into the program: not for a terminal, /dev/null, or a closed descriptor. */
function isPiped(): boolean {
  try {
    const stats = fstatSync(0);
    return stats.isFIFO() || stats.isFile() || stats.isSocket();
  } catch {
    return false;
  }
}

function interruptSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(name, () => {
      // The second one does not wait for the turn to settle.
      if (controller.signal.aborted) void endProcess(INTERRUPTED);
      controller.abort();
    });
  }
  return controller.signal;
}

const note = (message: string) => void process.stderr.write(`service-code: ${message}\n`);

/** Whether the lines of `--json` are expected, also by arguments that cannot be parsed. */
const printsJson = (argv: string[]) => argv.slice(0, [...argv, '--'].indexOf('--')).includes('--json');

/** Resolves when the reader of stdout has received the line, or has gone. */
async function fail(error: unknown, { json, begun }: { json: boolean; begun: number }): Promise<void> {
  const message = startFailureText(error);
  note(message);
  if (!json) return;
  const line = JSON.stringify(resultLine(failedResult('bad_use', message), begun));
  await new Promise<void>((resolve) => process.stdout.write(`${line}\n`, () => resolve()));
}

/** Reads the arguments and finds or starts the server. Throws `StartError`. */
async function prepare(argv: string[], program: Program) {
  const options = readArguments(argv, definition);
  const signal = interruptSignal();
  const server = await findServer(options, program);
  return { options, signal, server, transport: await transportOf(server) };
}

async function runWith({ options, signal, server, transport }: Awaited<ReturnType<typeof prepare>>): Promise<number> {
  try {
    return await runPrompt({
      url: server.url,
      token: server.token,
      ...transport,
      prompt: options._[0],
      cwd: resolve(options.cwd ?? '.'),
      session: options.session,
      continues: options.continue,
      model: options.model,
      effort: options.effort,
      permissionMode: options['permission-mode'],
      files: options.file,
      timeoutMs: options.timeout === undefined ? undefined : options.timeout * 1000,
      json: options.json,
      approvals: options.approvals,
      allowDenied: options['allow-denied'],
      stdin: options.approvals === 'stdin' || isPiped() ? process.stdin : undefined,
      stdout: process.stdout,
      stderr: process.stderr,
      signal,
    });
  } finally {
    // The result is printed, and its exit code counts.
    await server.close().catch((error: unknown) => note(startFailureText(error)));
  }
}

export const run: Command = {
  help: () => usageText(definition.name, definition.description, args),
  async run(argv, program) {
    const begun = performance.now();
    try {
      return await runWith(await prepare(argv, program));
    } catch (error) {
      await fail(error, { json: printsJson(argv), begun });
      // 1 is a failed turn.
      return BAD_USE;
    }
  },
};
