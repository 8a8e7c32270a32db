/** The sprite of the icons: a vite plugin, which draws it from `lucide-static`. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Plugin } from 'vite';
import { iconNames } from './icon-names.ts';

const require = createRequire(import.meta.url);

/** A symbol of an icon; `ui-icon` sets how its lines are drawn. */
function symbolOf(name: string): string {
  const svg = readFileSync(require.resolve(`lucide-static/icons/${name}.svg`), 'utf8');
  const shapes = svg.slice(svg.indexOf('>', svg.indexOf('<svg')) + 1, svg.lastIndexOf('</svg>'));
  return `<symbol id="${name}" viewBox="0 0 24 24">${shapes.replaceAll(/\s+/g, ' ').replaceAll('> <', '><').trim()}</symbol>`;
}

export const sprite = () => `<svg xmlns="http://www.w3.org/2000/svg">${iconNames.map(symbolOf).join('')}</svg>`;

/** `icon-names.ts?sprite` is the address of the sprite. */
export function iconSprite(): Plugin {
  const query = /icon-names\.ts\?sprite$/;
  const devPath = '/icons.svg';
  let isServing = false;
  return {
    name: 'icon-sprite',
    enforce: 'pre',
    configResolved({ command }) {
      isServing = command === 'serve';
    },
    configureServer({ middlewares }) {
      middlewares.use(devPath, (_request, response) => {
        response.setHeader('content-type', 'image/svg+xml');
        response.end(sprite());
      });
    },
    load(id) {
      if (!query.test(id)) return undefined;
      if (isServing) return `export default ${JSON.stringify(devPath)}`;
      const file = this.emitFile({ type: 'asset', name: 'icons.svg', source: sprite() });
      return `export default import.meta.ROLLUP_FILE_URL_${file}`;
    },
  };
}
