/** Runs the calls of one response: order, conflicts, ends. Tools are fakes, journal and batch are real. */
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { TurnAborted } from '#server/agent/contract/errors.ts';
import { runToolBatch } from '#server/agent/calls/tool-batch.ts';
import type { Access, RunContext, Tool, ToolResult } from '#server/tools/tool.ts';
import { defineTool } from '#server/tools/tool.ts';
import { openAgentSession } from '#support/agent-session.ts';
import { temporaryDirectory } from '#support/temporary-directory.ts';
import type { AgentServices } from '#server/agent/contract/services.ts';

const file = (path: string, mode: 'read' | 'write', recursive = false): Access => ({
  kind: 'file',
  path,
  mode,
  recursive,
});

interface Step {
  accesses: Access[];
  run?(context: RunContext): Promise<ToolResult>;
  plan?(): never;
}

/**
 * A batch of calls `0`, `1`, … with these plans; `log` lists what ran (`>n`), started (`+n`) and ended (`n` or `!n`).
 */
async function batch(
  steps: Step[],
  {
    signal = new AbortController().signal,
    services = {},
    nestedInstructions = () => Promise.resolve([]),
  }: {
    signal?: AbortSignal;
    services?: Partial<AgentServices>;
    nestedInstructions?: () => Promise<string[]>;
  } = {},
) {
  const log: string[] = [];
  const tool: Tool = defineTool({
    name: 'Step',
    permission: 'ask',
    effects: 'any',
    description: '',
    parameters: z.object({ n: z.number() }),
    prepare({ n }) {
      const step = steps[n];
      step?.plan?.();
      return {
        accesses: step?.accesses ?? [],
        label: `Step ${n}`,
        subject: { match: 'literal' },
        async run(context) {
          log.push(`>${n}`);
          return step?.run ? step.run(context) : { output: `output ${n}` };
        },
      };
    },
  });
  const { session, frames } = await openAgentSession({ dir: await temporaryDirectory(), tools: [tool], services });
  await session.log.claim();
  const told = frames.push.bind(frames);
  frames.push = (...more) => {
    for (const { type, payload } of more) {
      const id = String(payload.toolCallId);
      if (type === 'tool.call.started') log.push(`+${id}`);
      if (type === 'tool.result') log.push('isError' in payload ? `!${id}` : id);
    }
    return told(...more);
  };
  const nothing = () => undefined;
  const stream = { waiting: nothing, toolStarted: nothing, toolProgress: nothing, toolEnded: nothing };
  const outcome = runToolBatch(
    session.agents.main.context,
    { id: 0, signal, stream, nestedInstructions },
    steps.map((_, n) => ({ id: String(n), name: 'Step', arguments: JSON.stringify({ n }) })),
  );
  const result = (id: string) =>
    frames.find(({ type, payload }) => type === 'tool.result' && payload.toolCallId === id)?.payload;
  return { outcome, log, results: { get: result } };
}

/** A result that arrives when `open` is called. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), run: async () => (await opened, { output: 'late' }) };
}

describe('scheduling', () => {
  it.each<[string, Access[], Access[], boolean]>([
    ['two reads of a file', [file('/a', 'read')], [file('/a', 'read')], false],
    ['a read and a write of it', [file('/a', 'read')], [file('/a', 'write')], true],
    ['the same path in another case', [file('/A', 'write')], [file('/a', 'write')], true],
    ['writes of two files', [file('/a', 'write')], [file('/b', 'write')], false],
    ['a search above a write', [file('/dir', 'read', true)], [file('/dir/x', 'write')], true],
    ['a read of a folder above a write', [file('/dir', 'read')], [file('/dir/x', 'write')], false],
    ['a folder whose name begins alike', [file('/dir', 'read', true)], [file('/directory/x', 'write')], false],
    ['two that touch nothing', [{ kind: 'none' }], [{ kind: 'none' }], false],
    ['one that touches nothing and a write', [{ kind: 'none' }], [file('/a', 'write')], false],
    ['one that touches nothing and a command', [{ kind: 'none' }], [{ kind: 'all' }], true],
    ['a command and a read', [{ kind: 'all' }], [file('/a', 'read')], true],
    ['a read and a command', [file('/a', 'read')], [{ kind: 'all' }], true],
    ['a call that declares nothing', [], [file('/a', 'read')], true],
  ])('%s', async (_what, first, second, waits) => {
    const { open, run } = gate();
    const { outcome, log } = await batch([{ accesses: first, run }, { accesses: second }]);
    await expect.poll(() => log).toContain(waits ? '>0' : '1');
    open();
    await outcome;
    expect(log.indexOf('0') < log.indexOf('>1')).toBe(waits);
  });

  it('a call waits for all earlier ones it conflicts with, not for others', async () => {
    const first = gate();
    const { outcome, log } = await batch([
      { accesses: [file('/a', 'write')], run: first.run },
      { accesses: [file('/b', 'write')] },
      { accesses: [file('/a', 'read'), file('/b', 'read')] },
      { accesses: [file('/b', 'read')] },
    ]);
    await expect.poll(() => log.includes('>0') && log.includes('3')).toBe(true);
    // The time at which the first one runs, concurrently with the others, is not determined.
    expect(log.filter((entry) => entry !== '>0')).toEqual(['+0', '+1', '+2', '+3', '>1', '1', '>3', '3']);
    first.open();
    await outcome;
    expect(log.slice(-3)).toEqual(['0', '>2', '2']);
  });

  it('a failing call does not block later ones', async () => {
    const broken = () => Promise.reject(new Error('broken'));
    const { outcome, log, results } = await batch([
      { accesses: [], run: broken },
      { accesses: [] },
      {
        accesses: [],
        plan: () => {
          throw new Error('no plan');
        },
      },
    ]);
    expect(await outcome).toEqual({ stopTurn: false });
    expect(log).toEqual(['+0', '+1', '+2', '!2', '>0', '!0', '>1', '1']);
    expect([results.get('0')?.output, results.get('2')?.output]).toEqual(['broken', 'no plan']);
  });
});

it('a call that fails the turn does so after the others have settled', async () => {
  const { open, run } = gate();
  // Finding instruction files is not part of the tool, so its failure is the turn's.
  const { outcome, log } = await batch([{ accesses: [file('/a', 'read')] }, { accesses: [file('/b', 'read')], run }], {
    nestedInstructions: () => Promise.reject(new Error('broken')),
  });
  let over = false;
  outcome.catch(() => (over = true));
  await expect.poll(() => log).toContain('>1');
  await new Promise((resolve) => setImmediate(resolve));
  expect(over).toBe(false);
  open();
  await expect(outcome).rejects.toThrow('broken');
});

describe('results', () => {
  it.each<[string, ToolResult, unknown]>([
    ['empty text', { output: '' }, expect.stringMatching(/without output/)],
    [
      'text parts',
      {
        output: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
      'ab',
    ],
    [
      'media alone',
      { output: [{ type: 'image_url', imageUrl: { url: 'data:image/png;base64,AA==' } }] },
      [
        { type: 'text', text: expect.any(String) },
        { type: 'image_url', imageUrl: { url: 'data:image/png;base64,AA==' } },
      ],
    ],
  ])('%s', async (_what, result, output) => {
    const { outcome, results } = await batch([{ accesses: [], run: () => Promise.resolve(result) }]);
    await outcome;
    expect(results.get('0')?.output).toEqual(output);
  });

  it('long text is spilled to a file, its beginning stays', async () => {
    const { outcome, results } = await batch([
      { accesses: [], run: () => Promise.resolve({ output: 'x'.repeat(50_001) }) },
    ]);
    await outcome;
    expect(results.get('0')?.output).toMatch(/^tool_name: Step\ntool_call_id: 0\noutput_size_chars: 50001\n/);
  });

  it('a result with `stopTurn` stops the turn, after the others', async () => {
    const { outcome, log } = await batch([
      { accesses: [], run: () => Promise.resolve({ output: 'x', stopTurn: true }) },
      { accesses: [] },
    ]);
    expect(await outcome).toEqual({ stopTurn: true });
    expect(log.at(-1)).toBe('1');
  });
});

describe('an abort', () => {
  it('settles every started call with a result, and waits at most 2 s for a call that ignores it', async () => {
    const controller = new AbortController();
    const { outcome, log, results } = await batch(
      [{ accesses: [], run: () => new Promise(() => undefined) }, { accesses: [] }],
      { signal: controller.signal },
    );
    await expect.poll(() => log).toContain('>0');
    const began = performance.now();
    controller.abort(new TurnAborted('user', 'stop'));
    await expect(outcome).rejects.toThrow('stop');
    expect(performance.now() - began).toBeGreaterThan(1900);
    expect(log).toEqual(['+0', '+1', '>0', '!0', '!1']);
    for (const id of ['0', '1']) expect(results.get(id)?.output).toMatch(/^Interrupted by user/);
  });

  it('by the server has another text', async () => {
    const controller = new AbortController();
    const run = async ({ signal }: RunContext): Promise<ToolResult> => {
      controller.abort(new TurnAborted('server', 'stopping'));
      return { output: signal.aborted ? 'seen' : 'unseen' };
    };
    const { outcome, results } = await batch([{ accesses: [], run }, { accesses: [] }], { signal: controller.signal });
    await expect(outcome).rejects.toThrow('stopping');
    expect(results.get('0')?.output).toBe('seen');
    expect(results.get('1')?.output).toMatch(/^Aborted/);
  });

  it('during the decisions records no events for later calls', async () => {
    const controller = new AbortController();
    let decisions = 0;
    const { outcome, log } = await batch([{ accesses: [] }, { accesses: [] }, { accesses: [] }], {
      signal: controller.signal,
      services: {
        decide() {
          decisions++;
          if (decisions === 2) controller.abort(new TurnAborted('user', 'stop'));
          return Promise.resolve({ kind: 'approve' });
        },
      },
    });
    await expect(outcome).rejects.toThrow('stop');
    expect(log).toEqual(['+0', '!0']);
  });
});
