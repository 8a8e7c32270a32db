import { grepFields, grepReplySchema } from '#schema/rest/grep.ts';
import { grep } from '#server/workspace-files/grep/grep.ts';
import { defineFilesEndpoint, fileFields } from '#utils/files-endpoint.ts';

export default defineFilesEndpoint({
  summary: 'Search the contents of files',
  description:
    'With ripgrep; `regex` is in the syntax of Rust. Hidden files are searched when an include glob names them.',
  body: fileFields(grepFields),
  data: grepReplySchema,
  large: true,
  errors: ['fs.path_not_found', 'fs.permission_denied', 'fs.grep_timeout'],
  handler: ({ body, directory, app, signal }) =>
    grep(directory, body, {
      runtime: app.runtime,
      topOf: app.projects.topOf,
      signal,
      timeoutMs: app.options.fileTimeouts.grepMs,
    }),
});
