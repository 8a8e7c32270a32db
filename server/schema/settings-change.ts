/** Changes of settings that were made while a command of the model ran, as transcripts contain them. */
import { z } from 'zod';
import { isoTime, nonEmpty } from './scalars.ts';

/** The code of the warning that records one. */
export const SETTINGS_CHANGED = 'settings-changed-during-command';

export const settingsChangeSchema = z
  .object({
    /** Unique in the session. */
    id: nonEmpty,
    message: z.string(),
    at: isoTime,
  })
  .meta({ id: 'TranscriptSettingsChange' });
