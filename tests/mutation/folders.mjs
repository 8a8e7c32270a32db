/** The measured folders, each with its tests except slow ones. */
export const FOLDERS = {
  'server/auth': [
    'unit/auth/**',
    'unit/http/request-target.test.ts',
    'api/{auth,ban,permissions-origin,upgrade}.test.ts',
  ],
  'server/storage': ['unit/storage/**'],
  'server/mcp/auth': ['unit/mcp/{discovery,grants,oauth-fetch}.test.ts', 'api/mcp-auth.test.ts'],
  'utils/http': [
    'unit/http/**',
    'api/{connection-limits,documents,files-download,request-handler,send-file,server,streams,upgrade}.test.ts',
  ],
  'server/files': [
    'unit/{files,project-files}/**',
    'unit/file-search/ignore-agreement.test.ts',
    'api/files-list.test.ts',
  ],
  'server/permissions': ['unit/permissions/**', 'api/permissions-config.test.ts'],
  'server/journal': [
    'unit/journal/**',
    'unit/sessions/{reading/cold-folds,live/{live-sessions,session-recovery}}.test.ts',
  ],
};
