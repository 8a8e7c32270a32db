/** Images and videos of the project, for models that accept them. */
import type { AgentContext, SessionContext } from '#server/agent/contract/context.ts';
import type { Feature, FeatureServices, LiveFeature } from '#server/agent/contract/feature.ts';
import type { VideoUploads } from '#server/models/video-uploads.ts';
import type { Tool } from '#server/tools/tool.ts';
import { createReadMediaTool } from './tool.ts';
import type { MediaKind } from '#server/agent/media/media-kinds.ts';

declare module '#server/agent/contract/feature.ts' {
  interface FeatureServices {
    readonly media: { readonly videos: Pick<VideoUploads, 'addressOf'> };
  }
}

function open({ services }: SessionContext, { media: { videos } }: FeatureServices): LiveFeature {
  /** Memoized tools, by agent and media kinds. */
  const made = new WeakMap<AgentContext, Map<string, Tool>>();

  function toolFor(agent: AgentContext, kinds: ReadonlySet<MediaKind>): Tool {
    const own = made.get(agent) ?? new Map<string, Tool>();
    made.set(agent, own);
    const key = [...kinds].join();
    const known = own.get(key);
    if (known) return known;
    const tool = createReadMediaTool(kinds, {
      images: services.images,
      async uploadVideo(video, signal) {
        const { model } = await agent.config.present();
        return videos.addressOf(model, video, signal);
      },
    });
    own.set(key, tool);
    return tool;
  }

  return {
    tools(agent) {
      const kinds = services.mediaKinds(agent.config.model());
      return kinds.size > 0 ? [toolFor(agent, kinds)] : [];
    },
  };
}

export const media: Feature = { name: 'media', open };
