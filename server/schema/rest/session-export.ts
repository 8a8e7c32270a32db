import * as z from 'zod';

const WEB_LOG_BYTES = 262_144;

export const sessionExportSchema = z.strictObject({
  web_log: z
    .string()
    .refine((text) => new TextEncoder().encode(text).length <= WEB_LOG_BYTES, {
      error: `web_log must not exceed ${WEB_LOG_BYTES} UTF-8 bytes`,
    })
    .optional(),
  desktop: z.boolean().optional(),
});
