import { fileListSchema, listFields } from '#schema/rest/file-list.ts';
import { listFiles } from '#server/workspace-files/list.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'List a directory',
  body: fileFields(listFields),
  data: fileListSchema,
  errors: ['fs.path_not_found', 'fs.permission_denied'],
  handler: ({ body, directory, app, signal }) =>
    listFiles(directory, body, { env: app.options.env(), topOf: app.projects.topOf, gitMarks: app.git.marks, signal }),
});
