/** The agent side of the protocol: its methods, each in terms of the server's API. */
import { agent, type AgentConnection, type Stream } from '@agentclientprotocol/sdk';
import { toRequestError } from './errors.ts';
import type { ServerLink } from './server-link.ts';
import { createSessions } from './sessions.ts';
import { modeChange, optionChange } from './settings.ts';

const PROTOCOL_VERSION = 1;

export interface AgentOptions {
  stream: Stream;
  link: ServerLink;
  version: string;
  log(text: string): void;
}

export interface RunningAgent {
  connection: AgentConnection;
  /** Resolves when no request other than a prompt is being handled. */
  idle(): Promise<void>;
  /** Stops following all sessions. */
  release(): void;
}

/** Serves an editor until its stream ends. */
export function startAgent({ stream, link, version, log }: AgentOptions): RunningAgent {
  let hasForms = false;
  let hasNotices = false;
  let handled: Promise<unknown> = Promise.resolve();
  const sessions = createSessions({
    link,
    editor: () => ({ context: connection.client, hasForms, hasNotices }),
    // The reply is queued for the stream as soon as its handler has resolved.
    after: (callback) => void setImmediate(callback),
    log,
  });

  /** Runs a handler; its failures become errors of the protocol. */
  async function handle<T>(run: () => Promise<T>): Promise<T> {
    try {
      return await run();
    } catch (error) {
      throw toRequestError(error, link.url);
    }
  }

  function short<T>(run: () => Promise<T>): Promise<T> {
    const running = handle(run);
    handled = Promise.allSettled([handled, running]);
    return running;
  }

  const connection: AgentConnection = agent({ name: 'service-code' })
    .onRequest('initialize', ({ params }) => {
      hasForms = params.clientCapabilities?.elicitation?.form != null;
      hasNotices = params.clientCapabilities?.session?.notices != null;
      return {
        protocolVersion: PROTOCOL_VERSION,
        agentInfo: { name: 'service-code', title: 'Service Code', version },
        authMethods: [],
        agentCapabilities: {
          loadSession: true,
          promptCapabilities: { image: true, audio: false, embeddedContext: true },
          mcpCapabilities: { http: true, sse: true },
          sessionCapabilities: { list: {}, resume: {}, close: {}, additionalDirectories: {} },
        },
      };
    })
    .onRequest('session/new', ({ params }) => short(() => sessions.create(params)))
    .onRequest('session/load', ({ params }) => short(() => sessions.open(params, { replay: true })))
    .onRequest('session/resume', ({ params }) => short(() => sessions.open(params, { replay: false })))
    .onRequest('session/list', ({ params }) => short(() => sessions.list(params)))
    .onRequest('session/close', ({ params }) =>
      short(async () => {
        await sessions.close(params.sessionId);
        return {};
      }),
    )
    .onRequest('session/set_mode', ({ params }) =>
      short(async () => {
        const { facts } = sessions.get(params.sessionId);
        await facts.change(modeChange(params.modeId, 'modeId'));
        return {};
      }),
    )
    .onRequest('session/set_config_option', ({ params }) =>
      short(async () => {
        const { facts } = sessions.get(params.sessionId);
        await facts.change(optionChange(facts.options(), params.configId, params.value));
        return { configOptions: facts.options() };
      }),
    )
    .onRequest('session/prompt', ({ params, signal }) =>
      handle(() => sessions.get(params.sessionId).prompt(params.prompt, signal)),
    )
    .onNotification('session/cancel', ({ params }) => sessions.cancel(params.sessionId))
    .connect(stream);

  return {
    connection,
    async idle() {
      await handled;
    },
    release: () => sessions.release(),
  };
}
