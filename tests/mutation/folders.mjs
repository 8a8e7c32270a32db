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
    'api/{callers,connection-limits,documents,files-download,plain-routes,request-handler,send-file,server,streams,upgrade,uploads,websocket}.test.ts',
  ],
  'server/files': ['unit/files/**', 'unit/builtin-tools/files.test.ts'],
  'server/permissions': [
    'unit/permissions/**',
    'unit/builtin-tools/{files,search}.test.ts',
    'api/{permissions,permissions-config}.test.ts',
  ],
  'server/journal': [
    'unit/journal/**',
    'unit/sessions/{reading/cold-folds,live/{live-sessions,session-recovery}}.test.ts',
    'unit/features/{compaction-parts,tasks}.test.ts',
    'unit/models/wire-pieces.test.ts',
    'unit/transcript/{entities,mapper}.test.ts',
    'api/{deep-json,session-recovery}.test.ts',
  ],
};
