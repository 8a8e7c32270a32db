import * as z from 'zod';
import { fileEntrySchema } from '#schema/rest/file-entry.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { makeDirectory } from '#server/workspace-files/make-directory.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Make a directory',
  body: fileFields({ path: nonEmpty, recursive: z.boolean().default(false) }),
  data: fileEntrySchema,
  errors: ['fs.path_not_found', 'fs.permission_denied', 'fs.already_exists'],
  handler: ({ body, directory }) => makeDirectory(directory, body),
});
