/**
 * Matches a request's segments against the endpoints of `#endpoints`. Ours and not h3's router, because radix3 decodes
 * before it splits, takes colons for parameters and ignores trailing slashes.
 */
import type { Endpoint } from '../endpoint.ts';

export interface EndpointEntry {
  /**
   * The route in nitro's notation: `/things/:id`, `/things/:id/actions/fork`; `/things/**:rest` matches the whole rest.
   */
  route: string;
  /** Lower case. */
  method: string;
  load(): Promise<{ default: Endpoint }>;
}

export type RouteMatch =
  | { kind: 'endpoint'; entry: EndpointEntry; params: Record<string, string> }
  /**
   * The resource has actions for this method, but not this one. `field` is its id; for actions of a collection that of
   * its items, empty where it has none.
   */
  | { kind: 'unsupported-action'; tail: string; field: string };

export interface RouteTable {
  entries: EndpointEntry[];
  /** Undefined for an unknown route. HEAD matches what GET does. */
  match(method: string, segments: string[]): RouteMatch | undefined;
}

interface Node {
  literals: Map<string, Node>;
  /** One child for all siblings: they name their parameter alike. */
  param: Node | undefined;
  paramName: string;
  endpoints: Map<string, { entry: EndpointEntry; names: string[] }>;
  /** Actions of the resource that ends here: method, then action. */
  actions: Map<string, Map<string, { entry: EndpointEntry; names: string[] }>>;
  /**
   * By method, the endpoint that takes the whole path after this node as one parameter, including the tail of an
   * action, which the endpoint checks after its query.
   */
  rest: Map<string, { entry: EndpointEntry; names: string[] }>;
}

const createNode = (): Node => ({
  literals: new Map(),
  param: undefined,
  paramName: '',
  endpoints: new Map(),
  actions: new Map(),
  rest: new Map(),
});

const CATCH_ALL = '**:';

function child(node: Node, segment: string): Node {
  if (segment.startsWith(':')) {
    node.paramName = segment.slice(1);
    return (node.param ??= createNode());
  }
  const existing = node.literals.get(segment);
  if (existing) return existing;
  const created = createNode();
  node.literals.set(segment, created);
  return created;
}

/** The path as clients know it: `/actions/<name>` reads as the `:<name>` tail of its resource. */
export function publicPath(route: string): string {
  return route.replace(/\/actions\/([^/:]+)$/, ':$1');
}

function insert(root: Node, entry: EndpointEntry): void {
  const segments = entry.route.split('/').slice(1);
  const names = segments.flatMap((segment) => /^(?:\*\*)?:(.*)$/.exec(segment)?.[1] ?? []);
  const action = segments.at(-2) === 'actions' ? segments.at(-1) : undefined;
  const resource = action === undefined ? segments : segments.slice(0, -2);
  let node = root;
  for (const segment of resource) {
    if (segment.startsWith(CATCH_ALL)) {
      node.rest.set(entry.method, { entry, names });
      return;
    }
    node = child(node, segment);
  }
  if (action === undefined) {
    node.endpoints.set(entry.method, { entry, names });
    return;
  }
  const ofMethod = node.actions.get(entry.method) ?? new Map<string, { entry: EndpointEntry; names: string[] }>();
  ofMethod.set(action, { entry, names });
  node.actions.set(entry.method, ofMethod);
}

const named = (names: string[], values: string[]) =>
  Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));

/** Builds the table once, at start; `match` allocates little and never throws. */
export function createRouteTable(entries: EndpointEntry[]): RouteTable {
  const root = createNode();
  for (const entry of entries) insert(root, entry);

  function find(node: Node, method: string, segments: string[], at: number, values: string[]): RouteMatch | undefined {
    const exact = findExact(node, method, segments, at, values);
    const rest = exact ? undefined : node.rest.get(method);
    if (!rest || at >= segments.length) return exact;
    return {
      kind: 'endpoint',
      entry: rest.entry,
      params: named(rest.names, [...values, segments.slice(at).join('/')]),
    };
  }

  function findExact(
    node: Node,
    method: string,
    segments: string[],
    at: number,
    values: string[],
  ): RouteMatch | undefined {
    const segment = segments[at];
    if (segment === undefined) return undefined;
    const last = at === segments.length - 1;
    if (last) return findLast(node, method, segment, values);
    const literal = node.literals.get(segment);
    const below = literal && find(literal, method, segments, at + 1, values);
    // An empty segment is an id only at the end of a path.
    if (below || !node.param || segment === '') return below;
    return find(node.param, method, segments, at + 1, [...values, segment]);
  }

  function findLast(node: Node, method: string, segment: string, values: string[]): RouteMatch | undefined {
    const exact = node.literals.get(segment)?.endpoints.get(method);
    if (exact) return { kind: 'endpoint', entry: exact.entry, params: named(exact.names, values) };

    const colon = segment.lastIndexOf(':');
    const head = segment.slice(0, colon);
    const collection = colon > 0 ? node.literals.get(head) : undefined;
    const collectionActions = collection?.actions.get(method);
    if (collection && collectionActions) {
      const found = collectionActions.get(segment.slice(colon + 1));
      if (found) return { kind: 'endpoint', entry: found.entry, params: named(found.names, values) };
      return { kind: 'unsupported-action', tail: segment, field: collection.paramName };
    }

    const { param } = node;
    if (!param || node.literals.get(segment)?.actions.has(method)) return undefined;
    const actions = param.actions.get(method);
    const plain = param.endpoints.get(method);
    if (actions && (colon !== -1 || !plain)) {
      const found = colon > 0 ? actions.get(segment.slice(colon + 1)) : undefined;
      if (found) return { kind: 'endpoint', entry: found.entry, params: named(found.names, [...values, head]) };
      return { kind: 'unsupported-action', tail: segment, field: node.paramName };
    }
    return plain && { kind: 'endpoint', entry: plain.entry, params: named(plain.names, [...values, segment]) };
  }

  return {
    entries,
    match(method, segments) {
      return find(root, method === 'HEAD' ? 'get' : method.toLowerCase(), segments, 0, []);
    },
  };
}
