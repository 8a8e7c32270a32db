// `service-code acp`: from the spawn to the answer of `initialize`, and streamed answers in comparison with a socket.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { follow, within } from '../client.mjs';
import { makeHome } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const DELTAS = 5000;
/** The model's answer to "DELUGE", without what a bridge may cut it into. */
const DELUGE = 'word '.repeat(DELTAS);

/** Starts a bridge on a home; `onText` receives the text of each chunk of an answer. */
function startBridge(directory, home, onText = () => undefined) {
  const child = spawn(process.execPath, [join(directory, 'bin/service-code.cjs'), 'acp'], {
    env: { ...process.env, SERVICE_CODE_HOME: home, SERVICE_CODE_URL: '', SERVICE_CODE_TOKEN: '' },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const closed = once(child, 'close');
  let errors = '';
  child.stderr.on('data', (text) => (errors += text));
  const waiting = new Map();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { id, result, error, params } = JSON.parse(line);
    const { sessionUpdate, content } = params?.update ?? {};
    if (sessionUpdate === 'agent_message_chunk') onText(content.text);
    if (result === undefined && error === undefined) return;
    const { resolve, reject } = waiting.get(id);
    if (error) reject(new Error(`${error.message}\n${errors}`));
    else resolve(result);
  });
  let last = 0;
  return {
    request(method, params) {
      const id = (last += 1);
      const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
      return within(answer, method);
    },
    async close() {
      child.stdin.end();
      await closed;
    },
  };
}

const initialize = (bridge) => bridge.request('initialize', { protocolVersion: 1, clientCapabilities: {} });

/** Milliseconds from the spawn to the answer of `initialize`. */
async function timeReady(directory, home) {
  const begun = performance.now();
  const bridge = startBridge(directory, home);
  await initialize(bridge);
  const ms = performance.now() - begun;
  await bridge.close();
  return ms;
}

/** A bridge with a session; `prompt(text)` resolves to its duration, the time of its first chunk, and its text. */
async function openEditor(directory, { home, project }) {
  let first;
  let said = '';
  const bridge = startBridge(directory, home, (text) => {
    first ??= performance.now();
    said += text;
  });
  await initialize(bridge);
  const { sessionId } = await bridge.request('session/new', { cwd: project, mcpServers: [] });
  return {
    sessionId,
    async prompt(text) {
      first = undefined;
      said = '';
      const begun = performance.now();
      const { stopReason } = await bridge.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] });
      if (stopReason !== 'end_turn') throw new Error(`the prompt ended with ${stopReason}`);
      return { ms: performance.now() - begun, first, said };
    },
    close: () => bridge.close(),
  };
}

/** Milliseconds from the first chunk of an answer at a socket of the session to the first one of the bridge. */
async function timeFirstChunk(editor, events) {
  const atSocket = events.next('"assistant.delta"', editor.sessionId).then(() => performance.now());
  const { first } = await editor.prompt('Tell me.');
  return first - (await atSocket);
}

async function timeDeluge(editor) {
  const { ms, said } = await editor.prompt('DELUGE');
  if (said !== DELUGE) throw new Error(`the bridge sent ${said.length} of ${DELUGE.length} characters`);
  return ms;
}

export async function measureAcp({ builds: [directory], model, quick, report }) {
  const unused = await makeHome(model.url);
  const target = await openTarget({ directory, model });
  const editor = await openEditor(directory, target);
  const events = await follow(target.server, [editor.sessionId]);
  const samples = async (warmUp, rounds, measure) => {
    await inTurn(warmUp, [measure], (each) => each());
    const [now] = await inTurn(rounds, [measure], (each) => each());
    return now;
  };
  try {
    for (const [name, home, most] of [
      ['acp is ready, with a running server', target.home, 600],
      ['acp is ready, with a server of its own', unused.home, 1200],
    ]) {
      const now = await samples(2, quick ? 4 : 12, () => timeReady(directory, home));
      report.line({ name, unit: 'ms', now, aim: { most } });
    }
    report.line({
      name: 'first chunk of acp after that of a socket',
      unit: 'ms',
      now: await samples(5, quick ? 10 : 40, () => timeFirstChunk(editor, events)),
      aim: { most: 20 },
    });
    report.line({
      name: `${DELTAS.toLocaleString('en')} deltas through acp`,
      unit: 'ms',
      now: await samples(1, quick ? 3 : 9, () => timeDeluge(editor)),
      aim: { most: 2000 },
    });
  } finally {
    events.close();
    await editor.close();
    await target.close();
    unused.remove();
  }
}
