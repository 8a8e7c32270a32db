import * as z from 'zod';
import { clientArray } from '#schema/client-array.ts';
import { fileEntrySchema } from '#schema/rest/file-entry.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { statPaths } from '#server/workspace-files/stat.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Metadata of many paths',
  body: fileFields({ paths: clientArray(nonEmpty, { min: 1, max: 1000 }) }),
  data: z.object({ entries: z.record(z.string(), fileEntrySchema.nullable()) }),
  handler: async ({ body, directory }) => ({ entries: await statPaths(directory, body.paths) }),
});
