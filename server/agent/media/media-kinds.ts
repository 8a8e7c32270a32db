/** Media kinds that models accept from files, by model alias. */
import type { EffectiveConfig } from '#server/config/effective.ts';
import type { ResolvedModel } from '#server/models/types.ts';
import { uploadsVideo } from '#server/models/video-uploads.ts';

/** Memoizes by configuration and alias, because it is called several times a step. */
export function createMediaKinds(resolve: (alias: string, config: EffectiveConfig) => ResolvedModel) {
  const known = new WeakMap<EffectiveConfig, Map<string, ReadonlySet<MediaKind>>>();

  function kindsOf(alias: string, config: EffectiveConfig): ReadonlySet<MediaKind> {
    const kinds = new Set<MediaKind>();
    try {
      const model = resolve(alias, config);
      if (model.capabilities.has('image_in')) kinds.add('image');
      if (uploadsVideo(model)) kinds.add('video');
    } catch {
      // A model that cannot be resolved accepts no media; its requests report why.
    }
    return kinds;
  }

  return (config: EffectiveConfig, alias = config.defaultModel ?? ''): ReadonlySet<MediaKind> => {
    const ofConfig = known.get(config) ?? new Map<string, ReadonlySet<MediaKind>>();
    known.set(config, ofConfig);
    const kinds = ofConfig.get(alias) ?? kindsOf(alias, config);
    ofConfig.set(alias, kinds);
    return kinds;
  };
}

export type MediaKind = 'image' | 'video';
