import { fileEntrySchema } from '#schema/rest/file-entry.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { statPath } from '#server/workspace-files/stat.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Metadata of a file, directory or link',
  body: fileFields({ path: nonEmpty }),
  data: fileEntrySchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  handler: ({ body, directory }) => statPath(directory, body.path),
});
