/** A session that the editor has open: its conversation, prompts, requests and settings. */
import type { AgentContext, ContentBlock, PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import {
  createSignal,
  MAIN_AGENT,
  reasonOf,
  type ContentPart,
  type EventFrame,
  type Session,
} from '@service-code/client';
import { ulid } from 'ulid';
import { cancelTasks } from './background-tasks.ts';
import { followChildren } from './children.ts';
import { commandIn, type Command } from './commands.ts';
import { compacted } from './compaction.ts';
import { internal } from './errors.ts';
import { readFacts, type Facts } from './facts.ts';
import { createInteractions } from './interactions.ts';
import type { ListsOnServer } from './lists-on-server.ts';
import { createProjection } from './projection.ts';
import { contentOf } from './prompt-content.ts';
import { createPrompts } from './prompts.ts';
import { createPump } from './pump.ts';
import { promptRequest, skillRequest } from './requests.ts';
import type { ServerLink } from './server-link.ts';
import type { Outcome } from './stop-reason.ts';

/** The connection to the editor. */
export interface Editor {
  context: AgentContext;
  hasForms: boolean;
  hasNotices: boolean;
}

export interface OpenSession {
  readonly facts: Facts;
  readonly lists: ListsOnServer;
  /** Sends the whole conversation. */
  replay(): Promise<void>;
  /** From now on changes are sent; call it after the reply that has announced the session. */
  start(): void;
  prompt(blocks: readonly ContentBlock[], signal: AbortSignal): Promise<PromptResponse>;
  cancel(): void;
  /** Cancels the turn and the background tasks that run, empties the lists and stops following the session. */
  close(): Promise<void>;
  /** Stops following the session. */
  release(): void;
}

export interface OpenSessionOptions {
  link: ServerLink;
  editor: Editor;
  session: Session;
  lists: ListsOnServer;
  log(text: string): void;
}

/** Follows a session; resolves when its newest turns were read, which are treated as displayed until `replay`. */
export async function openSession({ link, editor, session, lists, log }: OpenSessionOptions): Promise<OpenSession> {
  const { id } = session;
  const { cwd } = session.metadata;
  const { rest, socket } = link.client;
  const facts = await readFacts(rest, id);
  let isLive = false;
  const changes = createSignal<string>();
  const closed = new AbortController();
  /** Cancels the running compactions, and fails them. */
  let cancels = new AbortController();
  let losses = new AbortController();

  const emit = async (update: SessionUpdate) => {
    // A rejection means that the connection to the editor has closed, which ends the bridge.
    await editor.context.notify('session/update', { sessionId: id, update }).catch(() => {});
  };

  let ready: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  const opened = new Promise<void>((resolve, reject) => {
    ready = resolve;
    fail = reject;
  });
  const follower = link.client.follow(id, {
    changed,
    failed(error) {
      fail(error);
      if (isLive) log(`session ${id}: ${reasonOf(error)}`);
    },
    eventsMissed() {
      ready();
      if (!isLive) return;
      void interactions.refresh();
      void reload();
    },
  });
  const { agents } = follower;
  const prompts = createPrompts(agents);
  const newProjection = () =>
    createProjection({ cwd, isOwn: prompts.isOwn, isOwnText: prompts.isOwnText, hasNotices: editor.hasNotices });
  let projection = newProjection();

  async function pass(): Promise<void> {
    for (const update of projection.next(agents)) await emit(update);
    for (const update of facts.next()) await emit(update);
  }
  const pump = createPump(pass);
  const interactions = createInteractions({
    rest,
    sessionId: id,
    cwd,
    editor: editor.context,
    hasForms: editor.hasForms,
    isConnected: () => socket.connection.kind === 'open',
    flushed: () => pump.flushed(),
    emit,
    log,
  });

  const updateChildren = followChildren(follower);
  const target = { link, sessionId: id, prepare: () => lists.restore() };
  /** Ids of the interactions that wait in each agent. */
  const pending = new Map<string, string>();

  function changed(agentId: string): void {
    const state = agents.get(agentId);
    if (!state) return;
    if (agentId === MAIN_AGENT) {
      facts.changeMeta(state.meta);
      updateChildren(state);
      prompts.changed();
    }
    changes.emit(agentId);
    if (!isLive) return;
    const waiting = [...state.pending].join();
    if (waiting !== (pending.get(agentId) ?? '')) void interactions.refresh();
    pending.set(agentId, waiting);
    pump.poke();
  }

  function onEvent({ type, session_id, payload, timestamp }: EventFrame): void {
    switch (type) {
      case 'session.meta.updated':
        if (session_id !== id || payload.title === undefined) return;
        facts.changeTitle(payload.title, timestamp);
        if (isLive) pump.poke();
        return;
      case 'event.session.work_changed':
        if (session_id === id && isLive) void interactions.refresh();
        return;
      case 'agent.disposed':
        if (session_id === id && payload.agentId === MAIN_AGENT) lists.dropped();
        return;
      case 'event.config.changed':
      case 'event.model_catalog.changed':
      case 'event.plugin.changed':
        void reload();
    }
  }

  async function reload(): Promise<void> {
    try {
      await facts.reload();
      if (isLive) pump.poke();
    } catch (error) {
      log(`session ${id}: ${reasonOf(error)}`);
    }
  }

  async function reply(outcome: Outcome): Promise<PromptResponse> {
    await pump.flushed();
    if ('error' in outcome) throw outcome.error;
    if (outcome.message !== undefined) await say(outcome.message);
    return { stopReason: outcome.stopReason };
  }

  const say = (text: string) =>
    emit({ sessionUpdate: 'agent_message_chunk', messageId: ulid(), content: { type: 'text', text } });

  const send = async (content: ContentPart[], signal: AbortSignal) =>
    reply(await prompts.run(promptRequest(target, content), signal));

  async function runCommand(command: Command, signal: AbortSignal): Promise<PromptResponse> {
    switch (command.kind) {
      case 'skill':
        return reply(await prompts.run(skillRequest(target, command), signal));
      case 'plan':
        await facts.change({ plan_mode: command.isOn });
        if (command.content.length > 0) return send(command.content, signal);
        return reply({ stopReason: 'end_turn', message: `Plan mode is ${command.isOn ? 'on' : 'off'}.` });
      case 'undo':
        await rest.undo(id, 1);
        return reply({ stopReason: 'end_turn', message: 'The last prompt and everything after it were removed.' });
      case 'compact': {
        const request = {
          start: () => rest.compact(id, command.instruction),
          abort: () => rest.abort(id),
          read: async () => (await rest.transcript(id, { agent_id: MAIN_AGENT, page_size: 1 })).items,
        };
        const signals = {
          cancelled: AbortSignal.any([signal, cancels.signal]),
          closed: AbortSignal.any([closed.signal, losses.signal]),
        };
        return reply(await compacted(agents, changes, request, signals));
      }
    }
  }

  function release(): void {
    isLive = false;
    for (const stop of stops) stop();
    interactions.close();
    prompts.close();
    closed.abort();
    follower.close();
  }

  const stops = [
    socket.onEvent(onEvent),
    link.onLost(() => {
      const error = internal('The connection to the server was lost');
      prompts.fail(error);
      losses.abort(error);
      losses = new AbortController();
    }),
  ];
  try {
    await opened;
  } catch (error) {
    release();
    throw error;
  }
  projection.skip(agents);
  prompts.changed();

  return {
    facts,
    lists,
    async replay() {
      for (;;) {
        const state = agents.get(MAIN_AGENT);
        const length = state?.items.length;
        if (!state?.hasMoreOlder) break;
        await follower.loadOlder(MAIN_AGENT);
        if (state.items.length === length) throw internal('The conversation could not be read');
      }
      projection = newProjection();
      for (const update of projection.next(agents)) await emit(update);
    },
    start() {
      isLive = true;
      pump.poke();
      void interactions.refresh();
    },
    async prompt(blocks, signal) {
      const content = contentOf(blocks, cwd);
      const command = commandIn(content, facts.skills);
      return command ? runCommand(command, signal) : send(content, signal);
    },
    cancel() {
      prompts.cancel();
      cancels.abort();
      cancels = new AbortController();
    },
    async close() {
      prompts.cancel();
      try {
        await rest.abort(id);
        // The end of a task in the background starts a turn of an idle agent.
        if (await cancelTasks(rest, id)) await rest.abort(id);
        await lists.clear();
      } finally {
        release();
      }
    },
    release,
  };
}
