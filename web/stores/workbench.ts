/** Shared state of the whole page: the client, the connection, the session list, models. */
import { computed, inject, shallowRef, watch, type InjectionKey } from 'vue';
import {
  ConnectionError,
  RelayError,
  createClient,
  isUnauthorized,
  type AuthSummary,
  type Config,
  type Connection,
  type Meta,
  type Model,
} from '@service-code/client';
import type { Command, CommandContext, FeatureSet } from '../features/feature.ts';
import { openSession, type OpenSession } from './session.ts';
import { createLayout } from './layout.ts';
import { createNavigation } from './navigation.ts';
import { createPanes } from './panes.ts';
import { createBatch, type BatchAction } from './batch.ts';
import { createPins } from './pins.ts';
import { createSessionLists } from './session-lists.ts';
import { caller, changeElsewhere } from './caller.ts';
import type { TurnTarget } from '../state/search-hits.ts';
import type { PaletteRequest } from '../state/palette-mode.ts';
import { panelCommands } from './panel-commands.ts';
import { sessionHashAddress } from '../state/page-address.ts';
import { createDraftDatabase } from './draft-database.ts';
import { createDrafts } from './drafts.ts';
import { pageRoot, scopedName } from './page-root.ts';
import { answerTokenRequests } from './token-share.ts';
import type { TokenStore } from './token-store.ts';
import { openTokenChannel, takeToken } from './token.ts';
import { rememberViewMode } from './view-mode.ts';

const RELAY_PING_MS = 30_000;
/** Capacity of the LRU list of followed sessions, which are displayed again without loading. */
const KEPT_SESSIONS = 6;

export type Workbench = ReturnType<typeof createWorkbench>;
export const workbenchKey: InjectionKey<Workbench> = Symbol('workbench');

export function useWorkbench(): Workbench {
  const workbench = inject(workbenchKey);
  if (!workbench) throw new Error('No workbench is provided');
  return workbench;
}

/** Opens the connection of the page; never closed. */
export function createWorkbench(features: FeatureSet, tokens: TokenStore) {
  const { base, viaRelay } = pageRoot();
  let token = tokens.read();
  const sessionAddress = sessionHashAddress(location.href, base);
  if (sessionAddress !== undefined) history.replaceState(null, '', sessionAddress);
  const client = createClient({
    baseUrl: new URL(base, location.origin).href,
    token: () => token,
    caller,
    WebSocket: window.WebSocket,
    XMLHttpRequest: window.XMLHttpRequest,
    // Proxies between close connections without traffic, and the server sends no pings.
    ...(viaRelay && { idlePingMs: RELAY_PING_MS }),
  });
  const { rest, socket } = client;

  const connection = shallowRef<Connection>(socket.connection);
  const unauthorized = shallowRef(false);
  /** An error that no other part of the page displays. */
  const problem = shallowRef<string | { error: unknown }>();
  /** The last change of settings or a workspace by another client. */
  const elsewhere = shallowRef<string>();
  /** Warnings about the configuration of the server; no request returns those before the connection. */
  const configWarnings = shallowRef<readonly { message: string }[]>([]);
  const meta = shallowRef<Meta>();
  const models = shallowRef<Model[]>([]);
  const config = shallowRef<Config>();
  const auth = shallowRef<AuthSummary>();
  const navigation = createNavigation(() => {
    const given = takeToken();
    if (given !== undefined) void useToken(given);
    return given !== undefined;
  });
  const layout = createLayout(scopedName('layout'));
  rememberViewMode(localStorage, scopedName('view'));
  const panes = createPanes({ navigation, layout, panels: features.panels });
  const { selected } = panes;
  /** The message to display in the selected session, until it is displayed. */
  const target = shallowRef<TurnTarget>();
  /** Undefined while the palette is closed. */
  const palette = shallowRef<PaletteRequest>();
  /** The dialog of the shell that is open. */
  const dialog = shallowRef<'new-session' | 'keys'>();

  /** Displays the error of a rejected call; a lost connection has a separate banner. */
  function report(error: unknown): void {
    if (isUnauthorized(error)) {
      unauthorized.value = true;
      socket.hold();
    } else if (!(error instanceof ConnectionError) || error instanceof RelayError) problem.value = { error };
  }

  async function readModels() {
    [auth.value, config.value, models.value] = await Promise.all([
      rest.auth(),
      rest.config(),
      rest.models().then((page) => page.items),
    ]);
  }

  async function readMeta() {
    meta.value = await rest.meta();
  }

  const lists = createSessionLists(client, report);
  const batch = createBatch({ rest, lists, report });
  const pins = createPins(localStorage, scopedName('pins'));
  for (const { changed } of [pins, tokens]) window.addEventListener('storage', changed);
  const drafts = createDrafts(client, createDraftDatabase(scopedName('drafts')));
  answerTokenRequests(openTokenChannel(), () => (socket.connection.kind === 'open' ? { token } : undefined));

  async function refresh() {
    try {
      await Promise.all([lists.read(), readModels(), readMeta()]);
      unauthorized.value = false;
      void lists.include(pins.ids.value);
    } catch (error) {
      report(error);
    }
  }

  /**
   * Tests the token with one request, since every refused request counts towards a ban. `stay`: whether it outlives the
   * tab; default: as before.
   */
  async function useToken(given: string, stay?: boolean) {
    const before = token;
    token = given;
    try {
      await rest.meta();
    } catch (error) {
      token = before;
      return report(error);
    }
    tokens.save(given, stay);
    unauthorized.value = false;
    if (socket.connection.kind === 'open') await refresh();
    else socket.probe();
  }

  socket.onConnection((state) => {
    connection.value = state;
    if (state.kind === 'open') {
      if (token !== undefined) tokens.save(token);
      void refresh();
    }
    // A refused upgrade looks like a lost connection; only a REST call detects a wrong token.
    if (state.kind === 'waiting') rest.meta().catch(report);
    if (state.kind === 'refused') unauthorized.value = true;
  });
  socket.onEvent((frame) => {
    elsewhere.value = changeElsewhere(frame) ?? elsewhere.value;
    if (frame.type === 'event.config.changed') readModels().catch(report);
    if (frame.type === 'event.config.warning') configWarnings.value = frame.payload.warnings;
  });

  watch(selected, (id) => {
    if (target.value?.sessionId !== id) target.value = undefined;
  });
  window.addEventListener('online', () => socket.probe());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) socket.probe();
  });

  /** Closes sessions that were not used recently; those in panes stay. */
  function evict() {
    const kept = open.filter((session, index) => index < KEPT_SESSIONS || panes.has(session.id));
    for (const session of open) if (!kept.includes(session)) session.close();
    open = kept;
  }
  // A session that has just left its pane.
  watch(panes.slots, evict, { flush: 'post' });

  /** Ordered by last use, the newest first. */
  let open: OpenSession[] = [];

  return {
    client,
    features,
    connection,
    unauthorized,
    problem,
    elsewhere,
    configWarnings,
    lists,
    list: lists.list,
    workspaces: lists.workspaces,
    pins,
    drafts,
    /** Facts of the server that are constant while it runs. */
    meta,
    models,
    config,
    auth,
    selected,
    navigation,
    layout,
    panes,
    mainView: computed(() => features.mainViews.find(({ id }) => id === navigation.view.value)),
    target,
    palette,
    dialog,
    /** The commands of all features, and those of their panels. */
    commands: [...features.commands, ...panelCommands(features.panels)],
    /** Runs a command in the focused pane. A rejection is reported as that of any other call. */
    run(command: Command): void {
      Promise.resolve(command.run(this.commandContext())).catch(report);
    },
    commandContext(): CommandContext {
      const pane = panes.focusedPane.value;
      return { workbench: this, pane, session: pane?.session };
    },
    report,
    refresh,
    select: panes.select,
    showView: (id: string) => navigation.go(`#/${id}`),
    /** Selects a session and displays one of its messages. */
    openAt(id: string, wanted: TurnTarget | undefined, { isBeside = false }: { isBeside?: boolean } = {}) {
      if (isBeside) panes.openBeside(id);
      else panes.select(id);
      target.value = wanted;
    },
    /** Returns the followed session; a recently used one is reused without loading. */
    open(id: string): OpenSession {
      const known = open.find((session) => session.id === id && !session.failure.value);
      const session = known ?? openSession({ client, features, drafts, report }, id);
      open = [session, ...open.filter((other) => other !== session)];
      evict();
      return session;
    },
    /** The workspace of a session that the page has. */
    workspaceOf: (id: string | undefined): string | undefined =>
      (open.find((session) => session.id === id)?.view.value.session ?? lists.find(id))?.workspace_id,
    /** Archives or restores sessions; returns those that succeeded. */
    async change(action: BatchAction, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const done = await batch.run(action, ids);
      if (action === 'archive') {
        for (const { slot, sessionId } of panes.slots.value) if (done.has(sessionId)) panes.close(slot);
      }
      return done;
    },
    batch,
    viaRelay,
    staysSignedIn: tokens.staysSignedIn,
    /** Stores the token for the browser, or for this tab only. */
    staySignedIn(stay: boolean): void {
      if (token !== undefined) tokens.save(token, stay);
    },
    useToken,
    /** For the address that opens the page on another device. */
    currentToken: () => token,
  };
}
