/** MCP over the standard streams of a program: one JSON message a line. */
import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { createTimeSlice } from '#server/async/yield.ts';
import { tailText } from '#server/text/truncate.ts';
import { waitAtMost } from '#server/async/wait-at-most.ts';
import type { RunningProcess, Spawn, SpawnRequest } from '#server/processes/spawn.ts';

/** A longer line closes the connection: a line is buffered whole before it is parsed. */
export const MAX_LINE_BYTES = 16 * 1024 * 1024;
const LINE_TOO_LONG = 'the server sent a message of more than 16 MiB';

/** High-water mark of unread responses; above it the program's output is not read (backpressure). */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;

/** Size of the retained tail of the program's standard error. */
export const ERROR_OUTPUT_BYTES = 4096;

/** How long to wait for the exit code after the output has closed. */
const EXIT_WAIT_MS = 500;

/** Time between SIGTERM and SIGKILL. */
const STOP_GRACE_MS = 5000;

export interface StdioTransport extends Transport {
  /** The tail of the program's standard error. */
  errorOutput(): string;
  /** The reason why the transport closed; undefined while it is open, and after a call of `close`. */
  failure(): string | undefined;
}

export interface StdioTransportOptions extends Pick<SpawnRequest, 'file' | 'args' | 'cwd' | 'env'> {
  spawn: Spawn;
  /** Throws if the line is not a message. */
  parse(line: string): JSONRPCMessage;
}

/** Creates the transport; `start` spawns the program in its process group, which is stopped with the transport. */
export function createStdioTransport({ spawn, parse, ...program }: StdioTransportOptions): StdioTransport {
  let running: RunningProcess | undefined;
  let followed: Promise<void> | undefined;
  let errors = Buffer.alloc(0);
  let failure: string | undefined;
  let closing = false;
  let over = false;

  function keepErrors(chunk: Buffer): void {
    // One more byte than is returned shows whether the first character is complete.
    errors = Buffer.concat([errors, chunk.subarray(-ERROR_OUTPUT_BYTES - 1)]).subarray(-ERROR_OUTPUT_BYTES - 1);
  }

  function end(): void {
    if (over) return;
    over = true;
    transport.onclose?.();
  }

  function take(line: Buffer): void {
    const text = line.toString('utf8').trim();
    if (text === '') return;
    let message: JSONRPCMessage;
    try {
      message = parse(text);
    } catch {
      // Many programs print other lines between their messages.
      transport.onerror?.(new Error('the server wrote a line that is no message'));
      return;
    }
    transport.onmessage?.(message);
  }

  /** Reads no faster than messages are handled (backpressure). */
  async function read(output: AsyncIterable<Buffer>, input: Writable): Promise<void> {
    let held: Buffer[] = [];
    let bytes = 0;
    const slice = createTimeSlice();
    for await (const chunk of output) {
      let from = 0;
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
        take(held.length === 0 ? chunk.subarray(from, at) : Buffer.concat([...held, chunk.subarray(from, at)]));
        held = [];
        bytes = 0;
        from = at + 1;
        if (slice.due()) await slice.rest();
        if (input.writableLength > MAX_WAITING_BYTES && !input.destroyed) await drained(input);
        if (over) return;
      }
      if (from < chunk.length) held.push(chunk.subarray(from));
      bytes += chunk.length - from;
      if (bytes > MAX_LINE_BYTES) {
        failure = LINE_TOO_LONG;
        return;
      }
    }
  }

  async function follow({ pipes, ended, stop }: RunningProcess): Promise<void> {
    if (!pipes) throw new Error('the program has no pipes');
    const { output, input } = pipes;
    const reading = read(output, input).catch(() => undefined);
    const exited = ended.then((code) => {
      failure ??= `the server exited with code ${code}`;
      // A process that has left the group may keep the pipe open.
      output.destroy();
    });
    await Promise.race([reading, exited]);
    // A program that closes its output without exiting cannot be used any more.
    input.end();
    if (failure === LINE_TOO_LONG) stop(STOP_GRACE_MS);
    else await waitAtMost(EXIT_WAIT_MS, exited);
    failure ??= 'the server closed its output';
    stop(STOP_GRACE_MS);
    await reading;
    end();
  }

  const transport: StdioTransport = {
    errorOutput: () => tailText(errors, ERROR_OUTPUT_BYTES).trim(),
    failure: () => (closing ? undefined : failure),

    async start() {
      running = await spawn({
        ...program,
        talks: true,
        onOutput: (_stream, chunk) => keepErrors(chunk),
      });
      if (closing) {
        running.stop(0);
        return;
      }
      followed = follow(running);
    },

    async send(message) {
      const input = running?.pipes?.input;
      if (!input || over || input.writableEnded || input.destroyed) {
        // Waits, so that the caller's error has the reason and the last output of the program.
        if (!closing) await followed;
        throw new Error('the connection is closed');
      }
      if (input.write(`${JSON.stringify(message)}\n`)) return;
      await drained(input);
      if (!input.destroyed) return;
      if (!closing) await followed;
      throw new Error('the connection is closed');
    },

    async close() {
      closing = true;
      end();
      if (!running) return;
      running.pipes?.input.end();
      running.stop(STOP_GRACE_MS);
      await running.ended;
    },
  };
  return transport;
}

/** Resolves when the buffered input has been read, or the pipe has closed. */
async function drained(input: Writable): Promise<void> {
  const done = new AbortController();
  const { signal } = done;
  try {
    await Promise.race([once(input, 'drain', { signal }), once(input, 'close', { signal })]);
  } catch {
    // The pipe is broken; the caller checks `destroyed`.
  } finally {
    done.abort();
  }
}
