/** Images and videos of the project, for models that take them. */
import type { AgentContext, MediaKind, SessionContext } from '#server/agent/context.ts';
import type { Feature, LiveFeature } from '#server/agent/feature.ts';
import type { Tool } from '#server/tools/tool.ts';
import { createReadMediaTool } from './tool.ts';

function open({ program }: SessionContext): LiveFeature {
  /** By what they read: the same objects for agents whose models take the same. */
  const made = new Map<string, Tool>();

  function toolFor(kinds: ReadonlySet<MediaKind>): Tool {
    const key = [...kinds].join();
    const known = made.get(key);
    if (known) return known;
    const tool = createReadMediaTool(kinds, { images: program.images });
    made.set(key, tool);
    return tool;
  }

  return {
    tools({ config }: AgentContext) {
      const alias = config.model();
      const kinds = alias === undefined ? undefined : program.mediaKinds(alias);
      return kinds && kinds.size > 0 ? [toolFor(kinds)] : [];
    },
  };
}

export const media: Feature = { name: 'media', open };
