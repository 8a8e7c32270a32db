const counted = (count: number, noun: string) => `${count} ${noun}${count === 1 ? '' : 's'}`;

export const plugins = {
  'plugins.title': 'Plugins',
  'plugins.installed': 'Installed',
  'plugins.installedPlugins': 'Installed plugins',
  'plugins.reading': 'Reading the plugins …',
  'plugins.none': 'No plugins yet.',
  'plugins.noneText': 'Install one above. Plugins bring skills, commands, agents, hooks and MCP servers.',
  'plugins.installsAgain': ({ source }: { source: string }) => `Installs it again from ${source}`,

  'plugins.install': 'Install a plugin',
  'plugins.source': 'Folder, zip address or repository',
  'plugins.sourceExample': '/home/you/plugin or https://github.com/owner/repository',
  'plugins.warning':
    'A plugin runs programs as you: its hooks and MCP servers can do everything that you can. Install only what you trust.',

  'plugins.marketplace': 'Marketplace',
  'plugins.catalog': 'Plugins of the catalog',
  'plugins.readingCatalog': 'Reading the catalog …',
  'plugins.noCatalog':
    'No catalog is configured. Plugins can be installed from a folder or an address above. A variable of the server names a catalog:',
  'plugins.emptyCatalog': 'The catalog is empty.',
  'plugins.emptyCatalogText': 'Install a plugin from a folder or an address above.',
  'plugins.clearFilter': 'Clear the filter',
  'plugins.filter': 'Filter the catalog',
  'plugins.noMatch': 'No plugin of the catalog matches.',
  'plugins.updateTo': ({ version }: { version: string }) => `Update to ${version}`,

  'plugins.capabilities': 'Capabilities',
  'plugins.checking': 'Checking what is installed …',
  'plugins.stepsOf': ({ name }: { name: string }) => `Steps of ${name}`,
  'plugins.optional': '(optional)',
  'plugins.installingNamed': ({ name }: { name: string }) => `Installing ${name}`,
  'plugins.installFailed': 'The installation failed.',

  'plugins.ready': 'ready',
  'plugins.partlyInstalled': 'partly installed',
  'plugins.notInstalled': 'not installed',
  'plugins.unsupported': 'not available on this machine',
  'plugins.update': 'Update',
  'plugins.progress': ({ step, percent }: { step: string | undefined; percent: number | undefined }) =>
    percent === undefined ? `${step ?? 'starting'} …` : `${step ?? 'starting'} … ${percent} %`,
  'plugins.skills': ({ count }: { count: number }) => counted(count, 'skill'),
  'plugins.commands': ({ count }: { count: number }) => counted(count, 'command'),
  'plugins.hooks': ({ count }: { count: number }) => counted(count, 'hook'),
  'plugins.mcpServers': ({ count, enabled }: { count: number; enabled: number }) =>
    enabled < count ? `${enabled} of ${counted(count, 'MCP server')}` : counted(count, 'MCP server'),
  'plugins.bringsNothing': 'No skills, commands, hooks or MCP servers',
  'plugins.fromGitHub': ({ repository, at }: { repository: string; at: string }) => `${repository} at ${at}`,
  'plugins.hasErrors': 'has errors',
  'plugins.enabled': 'enabled',
  'plugins.disabled': 'disabled',
  'plugins.broken': 'Its manifest is missing or has errors, so the agent gets nothing of it. Update it, or remove it.',
  'plugins.official': 'official',
  'plugins.curated': 'curated',
  'plugins.thirdParty': 'third party',
  'plugins.installedVersion': ({ version, isEnabled }: { version: string | undefined; isEnabled: boolean }) =>
    `installed${version === undefined ? '' : ` ${version}`}${isEnabled ? '' : ', disabled'}`,
} as const;
