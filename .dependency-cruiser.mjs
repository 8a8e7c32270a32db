// The order of the layers: a file imports from its own layer or from one below it, types included.

/** From the bottom to the top; a name is a folder of `server/` or a file in it. */
const LAYERS = [
  ['schema', 'errors', 'async', 'memo', 'text', 'clock', 'ids', 'version', 'env'],
  [
    'logging',
    'files',
    'project-files',
    'ignore-rules',
    'ripgrep',
    'images',
    'processes',
    'threads',
    'net',
    'runtime',
    'storage',
    'home',
    'git',
  ],
  ['events'],
  ['journal'],
  ['config', 'account', 'auth', 'transcript', 'uploads'],
  [
    'models',
    'model-catalog',
    'tools',
    'permissions',
    'builtin-tools',
    'interactions',
    'tasks',
    'hooks',
    'watches',
    'mcp',
    'web',
    'skills',
    'plugins',
  ],
  ['agent'],
  ['features'],
  [
    'sessions',
    'search',
    'workspaces',
    'workspace-files',
    'file-search',
    'host-files',
    'terminals',
    'capabilities',
    'debug',
    'remote',
  ],
  ['app', 'cli'],
];

/** The reducer of transcript operations, and the client that follows a transcript. */
const REDUCER = '^server/transcript/(reducer|client)/';

/** Escaping of texts that a user consents to, and how search compares texts; the server and the page share them. */
const SHARED_TEXT = '^server/text/(visible-text|normalized-text|word-runs)\\.ts$';

/** The modules that `@service-code/client` exports. */
const CLIENT = '^clients/typescript/src/(index|text)\\.ts$';

/** The folders in each of them import each other in no circle, types included. */
const FOLDERS_WITHOUT_CIRCLES = ['server', 'server/agent', 'server/sessions'];

const inServer = (names) => `^server/(${names.join('|')})(/|\\.ts$)`;

/** @type {import('dependency-cruiser').IConfiguration} */
export default {
  forbidden: [
    ...LAYERS.slice(0, -1).map((names, index) => ({
      name: `below-${LAYERS[index + 1][0]}`,
      severity: 'error',
      from: { path: inServer(names) },
      to: { path: inServer(LAYERS.slice(index + 1).flat()) },
    })),
    {
      name: 'every-folder-has-a-layer',
      comment: 'A new folder of server/ takes its place in LAYERS.',
      severity: 'error',
      from: { path: '^server/', pathNot: inServer(LAYERS.flat()) },
      to: {},
    },
    ...FOLDERS_WITHOUT_CIRCLES.map((folder) => ({
      name: `no-circles-of-folders-in-${folder.split('/').at(-1)}`,
      comment: 'Two folders that import each other are one, or a file of one belongs elsewhere.',
      scope: 'folder',
      severity: 'error',
      from: { path: `^${folder}/[^/]+$` },
      to: { path: `^${folder}/[^/]+$`, circular: true },
    })),
    {
      name: 'no-circles-of-files',
      comment: 'The contract of an agent, its session, services and features is one contract in four files.',
      severity: 'error',
      from: { path: '^(server|utils|routes|plugins|entry\\.ts)' },
      to: { circular: true, via: { pathNot: '^server/agent/contract/' } },
    },
    {
      name: 'threads-have-no-configuration',
      comment: 'A program of a worker thread gets its settings from the main program, and creates no services.',
      severity: 'error',
      from: { path: '-program\\.ts$' },
      to: { path: '^server/(app|config)/', reachable: true },
    },
    {
      name: 'sessions-know-no-feature',
      comment: 'Routes call a feature within `sessions.use`; sessions call the hooks of `Feature` and `LiveFeature`.',
      severity: 'error',
      from: { path: '^server/(sessions|workspaces|workspace-files|file-search|host-files|terminals)/' },
      to: { path: '^server/features/' },
    },
    {
      name: 'journal-has-one-disk',
      comment: 'Another store is another set of those functions.',
      severity: 'error',
      from: { path: '^server/journal/', pathNot: '^server/journal/journal-files\\.ts$' },
      to: { path: '^((node:)?fs(/promises)?$|server/files/)' },
    },
    {
      name: 'project-files-have-one-reader',
      comment:
        'What anybody may have put there is read through the runtime: bounded, without waiting, regular files only.',
      severity: 'error',
      from: {
        path: '^server/((project-files|tools|builtin-tools|agent/(prompt|profiles)|git|skills)/|mcp/config/(server-file|workspace-servers)\\.ts$|files/markdown-)',
        // The server's files and file metadata, without content of the project.
        pathNot: '^server/git/(line-counts|submodules)\\.ts$',
      },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'project-root-has-one-finder',
      comment: 'Instructions, permissions, searches and MCP servers must agree on the root, and on whose files count.',
      severity: 'error',
      from: { path: '^server/', pathNot: '^server/(app/open-workspaces\\.ts$|project-files/)' },
      to: { path: '^server/project-files/(projects|owner-rule)\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'git-entries-are-walked-here-only',
      comment: 'Others ask the finder: this one wants `.git` entries of any owner.',
      severity: 'error',
      from: {
        path: '^server/',
        pathNot: '^server/(project-files/|permissions/steps/git-paths\\.ts$)',
      },
      to: { path: '^server/project-files/git-entries\\.ts$' },
    },
    {
      name: 'git-files-are-parsed-for-these-only',
      comment: 'What git itself reads of a repository follows `.git` pointers; others ask the finder.',
      severity: 'error',
      from: {
        path: '^server/',
        pathNot:
          '^server/(project-files/|git/(discovery|embedded|configured-files)\\.ts$|ignore-rules/ignore-rules\\.ts$)',
      },
      to: { path: '^server/project-files/repository\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'request-targets-have-one-parser',
      comment: 'Guard and route table get its result from the two entry points.',
      severity: 'error',
      from: { pathNot: '^utils/http/(request-handler|websocket)\\.ts$' },
      to: { path: '^utils/http/request-target\\.ts$', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'raw-requests-stay-in-utils-http',
      comment:
        'Who has a raw request can parse its target. The files that are excepted listen for themselves, or use names only.',
      severity: 'error',
      from: {
        path: '^(server|utils|routes|plugins|entry\\.ts$)',
        pathNot:
          '^(utils/http/|server/(cli|models/demo)/|server/(mcp/auth/callback|models/errors|plugins/requests|web/local-fetch)\\.ts$)',
      },
      to: { path: '^(node:)?https?$' },
    },
    {
      name: 'server-knows-no-endpoint',
      severity: 'error',
      from: { path: '^server/' },
      to: { path: '^(routes|utils|plugins|web|tests|build|bench)/|^entry\\.ts$' },
    },
    {
      name: 'utils-know-no-route',
      severity: 'error',
      from: { path: '^utils/' },
      to: { path: '^(routes|plugins|web|tests|build|bench)/|^entry\\.ts$' },
    },
    {
      name: 'schemas-stand-alone',
      severity: 'error',
      from: { path: '^server/schema/' },
      to: { path: '^(server|utils|routes)/', pathNot: '^server/schema/' },
    },
    {
      name: 'page-knows-the-client-only',
      comment: 'Types and shared functions come from the client, as in any other client of the API.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^(server|utils|routes|plugins|tests|clients)/', pathNot: CLIENT },
    },
    {
      name: 'client-bundles-only-shared-files',
      comment: 'Its types are generated from the served documents.',
      severity: 'error',
      from: { path: '^clients/' },
      to: { path: '^(server|utils|routes|plugins|tests|web)/', pathNot: [REDUCER, SHARED_TEXT] },
    },
    {
      name: 'programs-use-the-public-api',
      comment: 'They are clients like any other; the files of the commands pass them the address and the token.',
      severity: 'error',
      from: { path: '^clients/(acp|run)/' },
      to: { path: '^(clients|server|utils|routes|plugins|web)/', pathNot: [CLIENT, '^clients/$1/'] },
    },
    {
      name: 'client-runs-anywhere',
      severity: 'error',
      from: { path: '^clients/typescript/src/' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'reducer-runs-anywhere',
      comment:
        'Server and clients apply operations and follow them with the same code: it needs nothing, and knows schemas by type.',
      severity: 'error',
      from: { path: REDUCER },
      to: { pathNot: REDUCER, dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'shared-text-needs-nothing',
      comment: 'The client bundles these files.',
      severity: 'error',
      from: { path: SHARED_TEXT },
      to: {},
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true, pathNot: '^(#endpoints|#nitro-internal-pollyfills)' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(\\.output|\\.nitro|web/dist|clients/typescript/dist|node_modules)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@service-code/source', 'import', 'node', 'default', 'types'],
    },
  },
};
