/** select_tools: loads the schemas of tools that were only announced by name. */
import { cutText } from '#server/text/truncate.ts';
import { defineTool, failed, type Tool } from '#server/tools/tool.ts';
import { argumentsSchema, SELECT_TOOLS } from './conversation.ts';

/** Maximum number of names in one call, because each may load a long schema. */
const MAX_NAMES = 128;
const LABEL_CHARS = 80;

const DESCRIPTION = `Load tools whose names were announced, so that you can call them.

Only their names are known to you until you load them; their descriptions and parameters are there with your next response. Load what the work at hand needs, several at once. A tool that is loaded stays so for the conversation; when it has been summarized, load what you still need again.`;

/** Creates the tool. `loadable` returns the names of an agent's loadable tools. */
export function createSelectTools(loadable: (agentId: string) => ReadonlySet<string>): Tool {
  return defineTool({
    name: SELECT_TOOLS,
    permission: 'free',
    effects: 'none',
    description: DESCRIPTION,
    parameters: argumentsSchema,
    prepare({ names }, { agentId }) {
      return {
        accesses: [],
        label: cutText(`Loading ${names.join(', ')}`, LABEL_CHARS),
        subject: { match: 'literal' },
        run: async () => {
          const wanted = [...new Set(names)];
          const there = loadable(agentId);
          const found = wanted.filter((name) => there.has(name));
          const unknown = wanted.filter((name) => !there.has(name));
          if (found.length > MAX_NAMES) return failed(`At most ${MAX_NAMES} tools can be loaded at once.`);
          const missing = `There is nothing to load of the name ${unknown.join(', ')}.`;
          if (found.length === 0) return failed(missing);
          const loaded = `Loaded, and there with your next response: ${found.join(', ')}.`;
          return { output: unknown.length > 0 ? `${loaded} ${missing}` : loaded };
        },
      };
    },
  });
}
