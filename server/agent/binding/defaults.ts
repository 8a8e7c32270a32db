/** Configured defaults of an agent that was never used. */
import type { ConfigReader } from '#server/config/config.ts';
import { effectiveRecord, findModel } from '#server/models/resolve.ts';
import type { AgentDefaults } from '../contract/feature.ts';

const DEFAULT_PERMISSION = 'manual';

/** Creates the defaults; the configuration is read at each use. */
export function createAgentDefaults(config: ConfigReader): AgentDefaults {
  return {
    config,
    defaultPermission: () => config.effective().defaultPermissionMode ?? DEFAULT_PERMISSION,
    defaultLimit() {
      const effective = config.effective();
      const found = effective.defaultModel ? findModel(effective, effective.defaultModel) : undefined;
      const record = found && effectiveRecord(found);
      return record?.maxInputSize ?? record?.maxContextSize;
    },
  };
}
