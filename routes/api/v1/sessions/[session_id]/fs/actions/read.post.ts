import { fileContentSchema, readFileFields } from '#schema/rest/file-content.ts';
import { readFileContent } from '#server/workspace-files/read.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Read a range of a file, as text if possible',
  body: fileFields(readFileFields),
  data: fileContentSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied', 'fs.is_directory', 'fs.is_binary', 'fs.too_large'],
  large: true,
  handler: ({ body, directory }) => readFileContent(directory, body),
});
