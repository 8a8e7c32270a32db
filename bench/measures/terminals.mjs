// A terminal with one viewer: the echo of a key, the throughput compared with a bare reader of the same program, Ctrl-C
// through a full socket, and the latency of another connection meanwhile. An earlier build may have no terminals.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { spawn } from 'node-pty';
import { WebSocket } from 'ws';
import { within } from '../client.mjs';
import { inTurn, median } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const OUTPUT_BYTES = 10_000_000;
const KEYS = 100;
/** Longer than the interval by which output is coalesced, like typing. */
const KEY_EVERY_MS = 12;
const PING_EVERY_MS = 5;
/** Long enough to fill the sockets and the queue of one connection. */
const FULL_MS = 1500;

async function openSocket({ url, token }) {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/api/v1/ws`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
  let wanted = [];
  socket.on('message', (data) => {
    const met = wanted.filter(({ word }) => data.includes(word));
    wanted = wanted.filter((each) => !met.includes(each));
    for (const { resolve } of met) resolve();
  });
  const next = (word) => within(new Promise((resolve) => wanted.push({ word: Buffer.from(word), resolve })), word);
  const send = (type, payload) => socket.send(JSON.stringify({ type, id: type, payload }));
  await next('"server_hello"');
  return { socket, next, send };
}

/** Opens a terminal with one attached connection. */
async function openTerminal(target, shell) {
  const { id: session_id } = await target.session();
  const { id: terminal_id } = await target.client.api('POST', `/sessions/${session_id}/terminals`, { shell });
  const { socket, next, send } = await openSocket(target.server);
  const attached = next('"attached":true');
  send('terminal_attach', { session_id, terminal_id });
  await attached;
  return {
    socket,
    next,
    input: (data) => send('terminal_input', { session_id, terminal_id, data }),
    async close() {
      await target.client.api('POST', `/sessions/${session_id}/terminals/${terminal_id}:close`);
      socket.terminate();
    },
  };
}

/** Median milliseconds from a key to its echo. */
async function echo(target) {
  const terminal = await openTerminal(target, 'cat');
  const times = [];
  for (let n = 0; n < KEYS; n += 1) {
    const begun = performance.now();
    const echoed = terminal.next('"terminal_output"');
    terminal.input('k');
    await echoed;
    times.push(performance.now() - begun);
    await delay(KEY_EVERY_MS);
  }
  await terminal.close();
  return median(times);
}

/** Pings on a separate connection until the work is done; returns the longest wait for an answer. */
async function longestWait(target, work) {
  const { socket, next } = await openSocket(target.server);
  const over = new AbortController();
  const working = work().finally(() => over.abort());
  let longest = 0;
  while (!over.signal.aborted) {
    const begun = performance.now();
    const answered = next('"pong"');
    socket.send('{"type":"ping"}');
    await answered;
    longest = Math.max(longest, performance.now() - begun);
    await delay(PING_EVERY_MS);
  }
  await working;
  socket.terminate();
  return longest;
}

const command = (file) => `cat ${file}; echo en$((0))d\n`;

/** Throughput in MB/s, and the longest wait of another connection. */
async function output(target, file) {
  const terminal = await openTerminal(target, '/bin/sh');
  let took = 0;
  const wait = await longestWait(target, async () => {
    const begun = performance.now();
    const ended = terminal.next('en0d');
    terminal.input(command(file));
    await ended;
    took = performance.now() - begun;
  });
  await terminal.close();
  return { rate: OUTPUT_BYTES / 1000 / took, wait };
}

/** Throughput of a bare reader. */
async function bareOutput(file) {
  const pty = spawn('/bin/sh', [], { cols: 80, rows: 24 });
  let last = '';
  const ended = new Promise((resolve) => {
    pty.onData((text) => {
      last = (last + text).slice(-100);
      if (last.includes('en0d')) resolve();
    });
  });
  await delay(100);
  const begun = performance.now();
  pty.write(command(file));
  await within(ended, 'the bare reader');
  const took = performance.now() - begun;
  pty.kill();
  return OUTPUT_BYTES / 1000 / took;
}

/** Milliseconds from Ctrl-C to the program, through the socket of a viewer that does not read. */
async function interrupt(target) {
  const terminal = await openTerminal(target, '/bin/sh');
  const mark = `interrupted-${performance.now()}`;
  const other = await openTerminal(target, '/bin/sh');
  const begunWatching = other.next('wat0ching');
  other.input(`echo wat$((0))ching; until [ -e ${mark} ]; do :; done; echo en$((0))d\n`);
  await begunWatching;
  terminal.input(`sh -c 'trap "touch ${mark}; exit" INT; yes'\n`);
  terminal.socket.pause();
  await delay(FULL_MS);
  const ended = other.next('en0d');
  const begun = performance.now();
  terminal.input('\u0003');
  await ended;
  const took = performance.now() - begun;
  terminal.socket.resume();
  await terminal.close();
  await other.close();
  return took;
}

export async function measureTerminals({ builds, model, quick, report }) {
  const target = await openTarget({ directory: builds[0], model });
  try {
    const file = join(target.project, 'ten-megabytes.txt');
    await writeFile(file, `${'x'.repeat(99)}\n`.repeat(OUTPUT_BYTES / 100));
    const rounds = quick ? 3 : 7;
    await echo(target);
    const [echoes] = await inTurn(rounds, [target], echo);
    report.line({ name: 'terminal echo: p50', unit: 'ms', now: echoes, aim: { most: 16 } });
    await output(target, file);
    const [outputs, bare] = await inTurn(rounds, [() => output(target, file), () => bareOutput(file)], (measure) =>
      measure(),
    );
    report.line({
      name: 'terminal output of 10 MB, one viewer',
      unit: 'MB/s',
      now: outputs.map(({ rate }) => rate),
      against: { name: 'bare reader', values: bare },
      aim: { least: 0.5, of: 'bare reader' },
    });
    report.line({
      name: 'terminal output: longest wait of others',
      unit: 'ms',
      now: outputs.map(({ wait }) => wait),
      aim: { most: 50 },
    });
    const [interrupts] = await inTurn(rounds, [target], interrupt);
    report.line({ name: 'terminal Ctrl-C, socket full', unit: 'ms', now: interrupts, aim: { most: 100 } });
  } finally {
    await target.close();
  }
}
