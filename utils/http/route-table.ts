/**
 * Matches a request's segments against the files of `#endpoints`. Ours and not h3's router, because radix3 decodes
 * before it splits, takes colons for parameters and ignores trailing slashes. Plain files are served by Nitro's router;
 * the table contains only which paths they name.
 */
import type { Endpoint } from '#utils/endpoint-definition.ts';

/** A file whose default export is a `define…Endpoint`. */
export interface EndpointEntry {
  /** The route in Nitro's form: `/things/:id`, `/things/:id/actions/fork`; `/things/**:rest` takes the whole rest of a path. */
  route: string;
  /** Lower case. */
  method: string;
  load(): Promise<{ default: Endpoint }>;
}

/** A file with any other event handler. */
export interface PlainRoute {
  route: string;
  /** Lower case; absent: any method. */
  method?: string;
}

export type RouteMatch =
  | { kind: 'endpoint'; entry: EndpointEntry; params: Record<string, string> }
  /**
   * The resource has actions for this method, but not this one. `field` is its id; for actions of a collection that of
   * its items, empty where it has none.
   */
  | { kind: 'unsupported-action'; tail: string; field: string }
  /** A plain file names the path, for this method or, if no file has this method, for another one. */
  | { kind: 'plain' };

export interface RouteTable {
  entries: EndpointEntry[];
  /** Undefined for an unknown route. HEAD matches what GET of an endpoint does. */
  match(method: string, segments: string[]): RouteMatch | undefined;
}

/** The end of a route; `entry` is absent for a plain file. */
interface Leaf {
  entry?: EndpointEntry;
  names: string[];
}

interface Node {
  literals: Map<string, Node>;
  /** One child for all siblings: endpoints name their parameter alike. */
  param: Node | undefined;
  paramName: string;
  /** By method; `ANY` for plain files without one. */
  leaves: Map<string, Leaf>;
  /** Actions of the resource that ends here: method, then action. */
  actions: Map<string, Map<string, Leaf>>;
  /**
   * By method, the file that takes everything below this node as one parameter. The tail of an action is part of it:
   * the endpoint looks for it at the end of its path.
   */
  rest: Map<string, Leaf>;
}

const createNode = (): Node => ({
  literals: new Map(),
  param: undefined,
  paramName: '',
  leaves: new Map(),
  actions: new Map(),
  rest: new Map(),
});

/** Key of the leaf of a plain file without a method. */
const ANY = '';
/** Matches a plain file of any method. */
const PLAIN = 'plain';

function child(node: Node, segment: string, isEndpoint: boolean): Node {
  if (segment.startsWith(':') || segment === '*') {
    if (isEndpoint) node.paramName = segment.slice(1);
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

function insert(root: Node, route: string, method: string, entry?: EndpointEntry): void {
  const segments = route.split('/').slice(1);
  const leaf = { entry, names: segments.flatMap((segment) => /^(?:\*\*)?:(.*)$/.exec(segment)?.[1] ?? []) };
  const action = entry && segments.at(-2) === 'actions' ? segments.at(-1) : undefined;
  const resource = action === undefined ? segments : segments.slice(0, -2);
  let node = root;
  for (const segment of resource) {
    if (segment.startsWith('**')) {
      node.rest.set(method, leaf);
      return;
    }
    node = child(node, segment, entry !== undefined);
  }
  if (action === undefined) {
    node.leaves.set(method, leaf);
    return;
  }
  const ofMethod = node.actions.get(method) ?? new Map<string, Leaf>();
  ofMethod.set(action, leaf);
  node.actions.set(method, ofMethod);
}

function pick(leaves: Map<string, Leaf>, method: string): Leaf | undefined {
  if (method === PLAIN) return [...leaves.values()].find(({ entry }) => !entry);
  const leaf = leaves.get(method) ?? leaves.get(ANY);
  if (leaf || method !== 'head') return leaf;
  const get = leaves.get('get');
  return get?.entry && get;
}

function matchOf({ entry, names }: Leaf, values: string[]): RouteMatch {
  if (!entry) return { kind: 'plain' };
  const params = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
  return { kind: 'endpoint', entry, params };
}

/** Actions are those of endpoints, which answer HEAD as they answer GET. */
const actionsOf = (node: Node, method: string) => node.actions.get(method === 'head' ? 'get' : method);

/** Builds the table once, at start; `match` allocates little and never throws. */
export function createRouteTable(entries: EndpointEntry[], plainRoutes: readonly PlainRoute[] = []): RouteTable {
  const root = createNode();
  for (const entry of entries) insert(root, entry.route, entry.method, entry);
  for (const { route, method = ANY } of plainRoutes) insert(root, route, method);

  function find(node: Node, method: string, segments: string[], at: number, values: string[]): RouteMatch | undefined {
    const exact = findExact(node, method, segments, at, values);
    const rest = exact ? undefined : pick(node.rest, method);
    if (!rest || at >= segments.length) return exact;
    const path = segments.slice(at).join('/');
    // Only the catch-all of the root has what is below it without a path.
    return rest.entry || path !== '' || at === 0 ? matchOf(rest, [...values, path]) : undefined;
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
    const literal = node.literals.get(segment);
    const exact = literal && pick(literal.leaves, method);
    if (exact) return matchOf(exact, values);

    const colon = segment.lastIndexOf(':');
    const head = segment.slice(0, colon);
    const collection = colon > 0 ? node.literals.get(head) : undefined;
    const collectionActions = collection && actionsOf(collection, method);
    if (collection && collectionActions) {
      const found = collectionActions.get(segment.slice(colon + 1));
      if (found) return matchOf(found, values);
      // Where the items have actions too, the collection is an item without an id.
      const tail = collection.param && actionsOf(collection.param, method) ? segment.slice(colon) : segment;
      return { kind: 'unsupported-action', tail, field: collection.paramName };
    }

    const { param } = node;
    if (!param || (literal && actionsOf(literal, method))) return undefined;
    const actions = actionsOf(param, method);
    const leaf = pick(param.leaves, method);
    if (actions && (colon !== -1 || !leaf)) {
      const found = colon > 0 ? actions.get(segment.slice(colon + 1)) : undefined;
      if (found) return matchOf(found, [...values, head]);
      return { kind: 'unsupported-action', tail: segment, field: node.paramName };
    }
    // A parameter of Nitro's router is never empty.
    return leaf && (leaf.entry || segment !== '') ? matchOf(leaf, [...values, segment]) : undefined;
  }

  /** Nitro's router ignores a slash at the end, and answers itself for a path that has no file for the method. */
  function findPlain(segments: string[]): RouteMatch | undefined {
    const found = find(root, PLAIN, segments, 0, []);
    if (found || segments.at(-1) !== '') return found;
    return find(root, PLAIN, segments.slice(0, -1), 0, []);
  }

  return {
    entries,
    match(method, segments) {
      const name = method.toLowerCase();
      return find(root, name, segments, 0, []) ?? (plainRoutes.length > 0 ? findPlain(segments) : undefined);
    },
  };
}
