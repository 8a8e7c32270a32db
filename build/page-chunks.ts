/**
 * Plugin of the page's build: joins the modules that are loaded together into one file. Without it each module that
 * several views share is a file of its own, and the first view loads eighty.
 */
import type { Plugin, Rolldown } from 'vite';

export interface PageChunk {
  name: string;
  /** Matches the modules that are loaded together; all that they import statically is joined, too. */
  sources: RegExp;
}

type Modules = Pick<Rolldown.PluginContext, 'getModuleIds' | 'getModuleInfo'>;

/** The chunk of each module: the first of `chunks` that loads it. Modules of no chunk are absent. */
function assign(chunks: readonly PageChunk[], modules: Modules): Map<string, string> {
  const names = new Map<string, string>();
  const add = (id: string, name: string) => {
    if (names.has(id)) return;
    names.set(id, name);
    for (const imported of modules.getModuleInfo(id)?.importedIds ?? []) add(imported, name);
  };
  const ids = [...modules.getModuleIds()];
  for (const { name, sources } of chunks) ids.filter((id) => sources.test(id)).forEach((id) => add(id, name));
  return names;
}

/** In the order in which the page loads `chunks`. */
export function joinedChunks(chunks: readonly PageChunk[]): Plugin {
  let names = new Map<string, string>();
  const groups = chunks.map(({ name }, index) => ({
    name,
    priority: chunks.length - index,
    test: (id: string) => names.get(id) === name,
  }));
  return {
    name: 'joined-chunks',
    apply: 'build',
    config: () => ({ build: { rolldownOptions: { output: { codeSplitting: { groups } } } } }),
    buildEnd() {
      names = assign(chunks, this);
    },
  };
}
