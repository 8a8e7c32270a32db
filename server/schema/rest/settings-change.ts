/** Changes of settings during a command of the model, as transcripts contain them. */
import * as z from 'zod';
import { isoTime, nonEmpty } from '../scalars.ts';

/** Code of the warning that records such a change. */
export const SETTINGS_CHANGED = 'settings-changed-during-command';

export const settingsChangeSchema = z
  .object({
    /** Unique in the session. */
    id: nonEmpty,
    message: z.string(),
    at: isoTime,
  })
  .meta({ id: 'TranscriptSettingsChange' });
