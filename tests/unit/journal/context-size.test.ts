/** The prediction of a fold's result: the end of a context after the records of a line. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { contextSize, endOfContext, placeSplices } from '#server/journal/context-size.ts';
import { readContext } from '#server/journal/projections/context.ts';
import { entering, event, internal, unsent, type Draft } from '#server/journal/records.ts';
import { estimateMessages } from '#server/journal/token-estimate.ts';
import type { ContextMessage } from '#schema/engine.ts';
import { openLog, temporaryFolder, type OpenedLog } from '#support/session-logs.ts';

const MAIN = 'main';
const SUB = 'agent-1';
const stepId = 's1';

let folder: Awaited<ReturnType<typeof temporaryFolder>>;
let opened: OpenedLog;
beforeEach(async () => {
  folder = await temporaryFolder();
  opened = await openLog(folder.path);
  await opened.log.claim();
  opened.log.append([internal(MAIN, 'agent.prompt', { text: 'You help with code.', sha256: 'x', cause: 'bound' })]);
});
afterEach(async () => {
  await opened.log.close();
  await folder.remove();
});

const message = (text: string): ContextMessage => ({
  role: 'user',
  content: [{ type: 'text', text }],
  toolCalls: [],
  origin: { kind: 'user' },
});
const says = (text: string, agent = MAIN) => entering(agent, [message(text)], { cause: 'input' });
const begun = (agent = MAIN) => event(agent, 'turn.step.started', { turnId: 0, step: 1, stepId });
const call = (id: string) => ({ id, name: 'Read', arguments: '{"path":"a.txt"}' });
const response = (more: Partial<Parameters<typeof internal<'step.response'>>[2]> = {}) =>
  internal(MAIN, 'step.response', {
    turnId: 0,
    step: 1,
    stepId,
    parts: [{ type: 'text', text: 'Let me look.' }],
    calls: [call('a'), call('b')],
    model: 'fake',
    ...more,
  });
const result = (toolCallId: string, agent = MAIN) =>
  event(agent, 'tool.result', { turnId: 0, toolCallId, output: `what ${toolCallId} found` });
const interrupted = event(MAIN, 'turn.step.interrupted', { turnId: 0, step: 1, stepId, reason: 'aborted' });

const main = () => readContext(opened.log.state.context, MAIN);

/** The splice that the last line wrote, as folded. */
function spliced() {
  const frame = opened.frames.findLast(({ type }) => type === 'context.spliced');
  const { start, tokens } = frame?.payload ?? {};
  return { start: Number(start), tokens: Number(tokens) };
}

describe('a splice is positioned at the end of the context, with the size that the fold then has', () => {
  it.each<[string, Draft[][]]>([
    ['the first message', [[says('hello')]]],
    ['two on one line', [[says('hello'), says('and more')]]],
    ['behind a step that begins the context', [[begun(), says('late')]]],
    ['behind a step that has begun', [[says('hello')], [begun(), says('late')]]],
    [
      'behind an answer that was measured',
      [
        [says('hello'), begun()],
        [response({ calls: [], contextTokens: 400, anchor: { length: 2, tokens: 400 } }), says('more')],
      ],
    ],
    [
      'behind an answer that was not',
      [
        [says('hello'), begun()],
        [response({ calls: [] }), says('more')],
      ],
    ],
    [
      'behind the results of a line',
      [
        [says('hello'), begun()],
        [response({ contextTokens: 400, anchor: { length: 2, tokens: 400 } })],
        [result('a'), result('b'), says('more')],
      ],
    ],
    [
      'behind answer and results of one line',
      [
        [says('hello'), begun()],
        [response(), result('b'), says('more')],
      ],
    ],
    ['behind a result that no call waits for', [[says('hello'), begun()], [response()], [result('c'), says('more')]]],
    [
      'behind a result that comes twice',
      [[says('hello'), begun()], [response()], [result('a'), result('a'), says('x')]],
    ],
    [
      'behind the results of a partial answer',
      [
        [says('hello'), begun()],
        [response({ partial: true }), result('a'), interrupted, says('more')],
      ],
    ],
    [
      'behind a result that comes after the step',
      [
        [says('hello'), begun()],
        [response(), interrupted, result('a'), says('x')],
      ],
    ],
    [
      'behind records of another agent',
      [
        [says('hello'), begun()],
        [says('elsewhere', SUB), begun(SUB), result('a', SUB), says('more')],
      ],
    ],
  ])('%s', (_what, lines) => {
    for (const line of lines) opened.log.append(line);
    const { start, tokens } = spliced();
    expect(main().entries).toHaveLength(start + 1);
    expect(main().entries[start]?.message.content).toMatchObject([{ type: 'text' }]);
    expect(tokens).toBe(contextSize(main()));
    expect(main().contextTokens).toBe(tokens);
  });
});

it('does not change an explicit position, and counts it for the splices after it', () => {
  opened.log.append([says('one'), says('two'), says('three')]);
  const own = event(MAIN, 'context.spliced', { start: 1, deleteCount: 2, messages: [message('x')], tokens: 70 });
  const [first, second] = placeSplices(opened.log.state, [own, says('behind it')]);
  expect(first).toBe(own);
  expect(second).toMatchObject({ start: 2, tokens: 70 + estimateMessages([message('behind it')]) });
  expect(endOfContext(opened.log.state, MAIN, [own])).toEqual({ length: 2, tokens: 70 });
});

it('preserves the other members of a splice', () => {
  const [placed] = placeSplices(opened.log.state, [unsent(says('x'))]);
  expect(placed).toMatchObject({ start: 0, deleteCount: 0, x: { cause: 'input' }, unsent: true });
});
