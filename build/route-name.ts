export interface RouteName {
  route: string;
  /** Lower case; absent: any method. */
  method?: string;
  /** Absent: all environments. */
  env?: string;
}

const NAME =
  /^(?<path>.*?)(?:\.(?<method>connect|delete|get|head|options|patch|post|put|trace))?(?:\.(?<env>dev|prod|prerender))?\.[A-Za-z]+$/;

/** Reads route, method and environment from the path of a file below a folder of routes, as Nitro does: `(v1)/things/[id].get.dev.ts`. */
export function routeName(file: string, base = ''): RouteName {
  const { path = file, method, env } = NAME.exec(file)?.groups ?? {};
  const route = `${base}/${path}`
    .replaceAll(/\([^(/]+\)\//g, '')
    .replaceAll('[...]', '**')
    .replaceAll(/\[\.{3}(\w+)\]/g, '**:$1')
    .replaceAll(/\[([^/\]]+)\]/g, ':$1')
    .replace(/\/index$/, '');
  return { route: route || '/', method, env };
}
