import { fileListsSchema, listManyFields } from '#schema/rest/file-list.ts';
import { listManyFiles } from '#server/workspace-files/list.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'List many directories',
  body: fileFields(listManyFields),
  data: fileListsSchema,
  large: true,
  handler: ({ body, directory, app, signal }) =>
    listManyFiles(directory, body, {
      env: app.options.env(),
      topOf: app.projects.topOf,
      gitMarks: app.git.marks,
      signal,
    }),
});
