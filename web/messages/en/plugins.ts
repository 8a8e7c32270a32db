export const plugins = {
  'plugins.title': 'Plugins',
  'plugins.installed': 'Installed',
  'plugins.installedPlugins': 'Installed plugins',
  'plugins.reading': 'Reading the plugins …',
  'plugins.none': 'No plugins yet. They bring skills, commands, agents, hooks and MCP servers.',
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
  'plugins.filter': 'Filter the catalog',
  'plugins.noMatch': 'No plugin of the catalog matches.',
  'plugins.updateTo': ({ version }: { version: string }) => `Update to ${version}`,

  'plugins.capabilities': 'Capabilities',
  'plugins.checking': 'Checking what is installed …',
  'plugins.stepsOf': ({ name }: { name: string }) => `Steps of ${name}`,
  'plugins.optional': '(optional)',
  'plugins.installingNamed': ({ name }: { name: string }) => `Installing ${name}`,
  'plugins.installFailed': 'The installation failed:',
} as const;
