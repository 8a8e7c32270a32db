import { expect, it } from 'vitest';
import { ApiError, type TerminalFrame } from '@service-code/client';
import { followTerminal } from '../../../web/features/terminals/link.ts';
import { createFakeSocket } from './fake-socket.ts';

const ids = { session_id: 's1', terminal_id: 't1' };

/** A terminal of the page on a fake server, whose replies the test triggers. */
function setup({ isNew = false } = {}) {
  const asked: { type: string; payload: object; answer(error?: Error): Promise<void> }[] = [];
  const { socket, send, report } = createFakeSocket(
    (type, payload) =>
      new Promise((resolve, reject) => {
        const answer = async (error?: Error) => {
          if (error) reject(error);
          // The link does not read the payload of an ack.
          else resolve(undefined as never);
          await new Promise((done) => setImmediate(done));
        };
        asked.push({ type, payload, answer });
      }),
  );
  const screen: string[] = [];
  const undrawn: (() => void)[] = [];
  const told: unknown[] = [];
  const link = followTerminal(
    socket,
    { session_id: 's1', id: 't1', isNew },
    {
      cols: 100,
      rows: 40,
      write(text, drawn) {
        screen.push(text);
        undrawn.push(drawn);
      },
      clear: () => void screen.splice(0, screen.length, '<clear>'),
      resize: (cols, rows) => void told.push([cols, rows]),
    },
    {
      exited: (code) => void told.push(code),
      gone: () => void told.push('gone'),
      failed: (error) => void told.push(error),
    },
  );
  return {
    link,
    asked,
    screen,
    told,
    /** Answers the oldest request, which must be of this type. */
    async answer(type: string, error?: Error) {
      const next = asked.shift();
      expect(next?.type).toBe(type);
      await next?.answer(error);
      return next?.payload;
    },
    output: (seq: number, data = `${seq} `) =>
      send({ type: 'terminal_output', seq, ...ids, timestamp: '', payload: { data } }),
    frame: send,
    draw: () => {
      for (const drawn of undrawn.splice(0)) drawn();
    },
    line: (kind: 'open' | 'connecting') => report({ kind }),
    inputs: () => asked.filter(({ type }) => type === 'terminal_input').map(({ payload }) => payload),
  };
}

it('attaches, draws replayed and live output, and sends its size', async () => {
  const { answer, output, screen } = setup();
  output(1);
  output(2);
  expect(await answer('terminal_attach')).toEqual({ ...ids, since_seq: 0 });
  output(3);
  expect(screen.join('')).toBe('1 2 3 ');
  expect(await answer('terminal_resize')).toEqual({ ...ids, cols: 100, rows: 40 });
});

it('resumes after its last frame when the connection is back', async () => {
  const { answer, output, screen, line, asked } = setup();
  output(1);
  await answer('terminal_attach');
  await answer('terminal_resize');
  line('connecting');
  output(2);
  line('open');
  expect(await answer('terminal_attach')).toEqual({ ...ids, since_seq: 1 });
  output(2);
  expect(screen.join('')).toBe('1 2 ');
  expect(asked.map(({ type }) => type)).toEqual(['terminal_resize']);
});

it('clears the screen when the replay starts later, and makes the program redraw it', async () => {
  const { answer, output, screen } = setup();
  output(7);
  output(8);
  expect(screen.join('')).toBe('<clear>7 8 ');
  await answer('terminal_attach');
  expect(await answer('terminal_resize')).toMatchObject({ rows: 39 });
  expect(await answer('terminal_resize')).toMatchObject({ rows: 40 });
});

it('reattaches when frames are missing, and drops frames that were sent before', async () => {
  const { answer, output, screen } = setup();
  output(1);
  await answer('terminal_attach');
  await answer('terminal_resize');
  output(5);
  output(6);
  expect(await answer('terminal_detach')).toEqual(ids);
  output(2);
  output(3);
  expect(await answer('terminal_attach')).toEqual({ ...ids, since_seq: 1 });
  expect(screen.join('')).toBe('1 2 3 ');
});

it('detaches while the screen has too much undrawn output', async () => {
  const { answer, output, asked, draw, screen } = setup();
  await answer('terminal_attach');
  await answer('terminal_resize');
  output(1, 'x'.repeat(2_500_000));
  output(2);
  await answer('terminal_detach');
  expect(asked).toEqual([]);
  draw();
  expect(await answer('terminal_attach')).toEqual({ ...ids, since_seq: 1 });
  expect(screen).toHaveLength(1);
});

it('is replaying until the replayed output is drawn, so that its queries stay unanswered', async () => {
  const { link, answer, output, draw } = setup();
  output(1);
  expect(link.isReplaying()).toBe(true);
  await answer('terminal_attach');
  expect(link.isReplaying()).toBe(true);
  draw();
  expect(link.isReplaying()).toBe(false);
  output(2);
  expect(link.isReplaying()).toBe(false);
});

it('sends input in every state', () => {
  const { link, output, inputs } = setup();
  output(1);
  link.input('\u0003');
  expect(inputs()).toEqual([{ ...ids, data: '\u0003' }]);
});

it('lets the first screen of a new terminal answer queries', () => {
  const { link, output } = setup({ isNew: true });
  output(1);
  expect(link.isReplaying()).toBe(false);
});

it('applies the size of another viewer, unless its own resize is pending', async () => {
  const { link, answer, frame, told } = setup();
  const resized = (cols: number): TerminalFrame => ({
    type: 'terminal_resized',
    ...ids,
    timestamp: '',
    payload: { cols, rows: 10 },
  });
  await answer('terminal_attach');
  frame(resized(1));
  await answer('terminal_resize');
  frame(resized(2));
  link.resized();
  frame(resized(3));
  expect(told).toEqual([[2, 10]]);
});

it('reports the exit, and a terminal that does not exist any more', async () => {
  const { answer, frame, told } = setup();
  frame({ type: 'terminal_exit', ...ids, timestamp: '', payload: { exit_code: 3 } });
  await answer('terminal_attach', new ApiError(40414, 'no such terminal', { status: 200 }));
  expect(told).toEqual([3, 'gone']);
});
