import { gitDiffSchema } from '#schema/rest/git.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { diffPath } from '#server/workspace-files/diff.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'How a file or directory differs from the last commit, as a unified diff',
  description: 'Cut at 1 MiB. Without untracked files of a directory.',
  body: fileFields({ path: nonEmpty }),
  data: gitDiffSchema,
  errors: ['fs.git_unavailable', 'fs.path_not_found', 'fs.permission_denied', 'fs.is_directory', 'fs.already_exists'],
  handler: ({ body, directory, app, signal }) => diffPath(app.git, directory, body.path, signal),
});
