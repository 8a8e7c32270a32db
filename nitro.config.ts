import { defineNitroConfig } from 'nitropack/config';
import { base64Files } from './build/base64.ts';
import { debugSignalModule } from './build/debug-signal.ts';
import { developmentBindModule } from './build/development-bind.ts';
import { developmentGuardModule } from './build/development-guard.ts';
import { developmentStopModule } from './build/development-stop.ts';
import { endpointsModule } from './build/endpoints.ts';
import { grammarModule } from './build/grammar.ts';
import { lazyFetchModule } from './build/lazy-fetch.ts';
import { nativeFiles } from './build/native-files.ts';
import { processImportModule } from './build/process-import.ts';
import { productionModule } from './build/production.ts';
import { refusedOptionsModule } from './build/refused-options.ts';
import { rawTexts } from './build/raw-text.ts';
import { threadPrograms } from './build/threads.ts';
import { socketResetsModule } from './build/socket-resets.ts';

export default defineNitroConfig({
  compatibilityDate: '2025-11-01',
  preset: 'node',
  srcDir: '.',
  imports: false,
  // Assets pass the guard like everything else, so nitro must not answer them before it.
  serveStatic: false,
  sourceMap: false,
  // What the oldest Node that we run on understands; nitro's own default rewrites what has been JavaScript since 2020.
  esbuild: { options: { target: 'node20' } },
  // No chunk names what its own imports import, which a browser would profit from and Node has to look up.
  rollupConfig: { output: { hoistTransitiveImports: false }, plugins: [base64Files(), rawTexts(), threadPrograms()] },
  experimental: { websocket: true },
  modules: [
    refusedOptionsModule,
    endpointsModule,
    grammarModule,
    processImportModule,
    lazyFetchModule,
    productionModule,
    debugSignalModule,
    socketResetsModule,
    developmentBindModule,
    developmentGuardModule,
    developmentStopModule,
  ],
  devServer: { watch: ['./server', './utils'] },
  // The client is bundled from its sources, which need no build.
  exportConditions: ['@service-code/source'],
  externals: {
    traceInclude: nativeFiles(),
    // Bundled, they load in a tenth of the time.
    inline: [
      '@service-code/client',
      'zod',
      'consola',
      'ipaddr.js',
      'mime',
      'ulid',
      'citty',
      'shell-quote',
      'smol-toml',
      '@decimalturn/toml-patch',
      'eventsource-parser',
    ],
  },
});
