/** Shared state of the whole page: the client, the connection, the session list, models. */
import { computed, inject, shallowRef, type InjectionKey } from 'vue';
import { createClient } from '../client/client.ts';
import { ConnectionError, RelayError, isUnauthorized, reasonOf } from '../client/errors.ts';
import type { Connection } from '../client/socket.ts';
import type { AuthSummary, Config, Model } from '../client/types.ts';
import type { FeatureSet } from '../features/feature.ts';
import { openSession, type OpenSession } from './session.ts';
import { createBatch, type BatchAction } from './batch.ts';
import { createPins } from './pins.ts';
import { createSessionLists } from './session-lists.ts';
import { caller, changeElsewhere } from './caller.ts';
import type { TurnTarget } from '../state/search-hits.ts';
import type { SearchOptions } from '../state/search-query.ts';
import { pageAddress, sessionHashAddress } from '../state/page-address.ts';
import { createTokenStore } from './token-store.ts';
import { takeToken } from './token.ts';

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

const sessionInAddress = () => /^#\/s\/(.+)$/.exec(location.hash)?.[1];
const viewInAddress = () => /^#\/([a-z-]+)$/.exec(location.hash)?.[1];

/** Opens the connection of the page; never closed. */
export function createWorkbench(features: FeatureSet) {
  const declaredBase = document.querySelector<HTMLMetaElement>('meta[name="service-base"]')?.content;
  const { base, viaRelay } = pageAddress(location.href, declaredBase);
  const tokens = createTokenStore(base, { tab: sessionStorage, device: localStorage });
  const given = takeToken();
  if (given !== undefined) tokens.saveUntested(given);
  let token = tokens.read();
  const sessionAddress = sessionHashAddress(location.href, base);
  if (sessionAddress !== undefined) history.replaceState(null, '', sessionAddress);
  const client = createClient({
    baseUrl: new URL(base, location.origin).href,
    token: () => token,
    caller,
    WebSocket: window.WebSocket,
    // Proxies between close connections without traffic, and the server sends no pings.
    ...(viaRelay && { idlePingMs: RELAY_PING_MS }),
  });
  const { rest, socket } = client;

  const connection = shallowRef<Connection>(socket.connection);
  const unauthorized = shallowRef(false);
  /** An error that no other part of the page displays. */
  const problem = shallowRef<string>();
  /** The last change of settings or a workspace by another client. */
  const elsewhere = shallowRef<string>();
  const models = shallowRef<Model[]>([]);
  const config = shallowRef<Config>();
  const auth = shallowRef<AuthSummary>();
  const selected = shallowRef(sessionInAddress());
  /** Id of the view that replaces the conversation. */
  const viewId = shallowRef(viewInAddress());
  /** The message to display in the selected session, until it is displayed. */
  const target = shallowRef<TurnTarget>();
  /** The scope of the open search palette; undefined while it is closed. */
  const palette = shallowRef<SearchOptions['scope']>();

  /** Displays the error of a rejected call; a lost connection has a separate banner. */
  function report(error: unknown): void {
    if (isUnauthorized(error)) {
      unauthorized.value = true;
      socket.hold();
    } else if (!(error instanceof ConnectionError) || error instanceof RelayError) problem.value = reasonOf(error);
  }

  async function readModels() {
    [auth.value, config.value, models.value] = await Promise.all([
      rest.auth(),
      rest.config(),
      rest.models().then((page) => page.items),
    ]);
  }

  const lists = createSessionLists(client, report);
  const batch = createBatch({ rest, lists, report });
  // The path separates two servers of one origin.
  const pins = createPins(localStorage, `service-code.pins${base}`);
  window.addEventListener('storage', pins.changed);

  async function refresh() {
    try {
      await Promise.all([lists.read(), readModels()]);
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
  });

  window.addEventListener('hashchange', () => {
    const given = takeToken();
    if (given) return void useToken(given);
    selected.value = sessionInAddress();
    viewId.value = viewInAddress();
    if (target.value?.sessionId !== selected.value) target.value = undefined;
  });
  window.addEventListener('online', () => socket.probe());
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) socket.probe();
  });

  function select(id: string | undefined) {
    location.hash = id === undefined ? '#/' : `#/s/${id}`;
  }

  /** Ordered by last use, the newest first. */
  let open: OpenSession[] = [];

  return {
    client,
    features,
    connection,
    unauthorized,
    problem,
    elsewhere,
    lists,
    list: lists.list,
    workspaces: lists.workspaces,
    pins,
    models,
    config,
    auth,
    selected,
    mainView: computed(() => features.mainViews.find(({ id }) => id === viewId.value)),
    target,
    palette,
    report,
    refresh,
    select,
    showView(id: string) {
      location.hash = `#/${id}`;
    },
    /** Selects a session and displays one of its messages. */
    openAt(id: string, wanted: TurnTarget | undefined) {
      target.value = wanted;
      select(id);
    },
    /** Returns the followed session; a recently used one is reused without loading. */
    open(id: string): OpenSession {
      const known = open.find((session) => session.id === id && !session.failure.value);
      const session = known ?? openSession({ client, features, report }, id);
      const all = [session, ...open.filter((other) => other !== session)];
      open = all.slice(0, KEPT_SESSIONS);
      for (const gone of all.slice(KEPT_SESSIONS)) gone.close();
      return session;
    },
    /** The workspace of a session that the page has. */
    workspaceOf: (id: string | undefined): string | undefined =>
      (open.find((session) => session.id === id)?.view.value.session ?? lists.find(id))?.workspace_id,
    /** Archives or restores sessions; returns those that succeeded. */
    async change(action: BatchAction, ids: readonly string[]): Promise<ReadonlySet<string>> {
      const done = await batch.run(action, ids);
      if (action === 'archive' && selected.value !== undefined && done.has(selected.value)) select(undefined);
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
