/** Copies the Bash grammar next to the bundled server, where it is resolved by `import.meta.url`. */
import { cp } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { NitroModule } from 'nitropack/types';

export const grammarModule: NitroModule = {
  name: 'grammar',
  setup(nitro) {
    const { rootDir, output } = nitro.options;
    nitro.hooks.hook('compiled', async () => {
      const source = resolve(rootDir, 'server/permissions/command-line/grammar');
      await cp(source, resolve(output.serverDir, 'grammar'), { recursive: true });
    });
  },
};
