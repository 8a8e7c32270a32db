import { clientArray } from '#schema/client-array.ts';
import { gitStatusReplySchema } from '#schema/rest/git.ts';
import { nonEmpty } from '#schema/scalars.ts';
import { statusOf } from '#server/workspace-files/git-status.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Changes since the last commit, branch and pull request',
  description: '`paths` filter the entries: files, or directories with their whole content.',
  body: fileFields({ paths: clientArray(nonEmpty).optional() }),
  data: gitStatusReplySchema,
  large: true,
  errors: ['fs.git_unavailable'],
  handler: ({ body, directory, app, signal }) => statusOf(app.git, directory, body.paths ?? [], signal),
});
