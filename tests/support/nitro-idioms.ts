/** Files as Nitro's documentation shows them, and an endpoint, for a copy of the project. */
import type { ProjectCopy } from './project-copy.ts';

const FROM_H3 = (names: string) => `import { ${names} } from 'h3';\n`;
const HANDLER = FROM_H3('defineEventHandler');
const FROM_NITRO = (names: string) => `import { ${names} } from 'nitropack/runtime';\n`;

const FILES: Record<string, string> = {
  'routes/hello.ts': `${HANDLER}export default defineEventHandler(() => 'hi');\n`,
  'routes/api/v1/plain.get.ts': `${HANDLER}export default defineEventHandler(({ context }) => ({ id: context.app.serverId }));\n`,
  'routes/api/v1/people/[name]/actions/greet.post.ts': `import * as z from 'zod';
import { defineEndpoint } from '#utils/endpoint.ts';
import { pathParams } from '#utils/params.ts';
export default defineEndpoint({
  summary: 'Greet a person',
  tag: 'meta',
  operationId: 'greet',
  params: pathParams('name'),
  body: z.object({ loud: z.boolean() }),
  data: z.object({ greeting: z.string() }),
  handler: ({ params, body }) => ({ greeting: body.loud ? params.name.toUpperCase() : params.name }),
});\n`,
  'routes/all/[...].ts': `${HANDLER}export default defineEventHandler(({ context }) => context.params?._ ?? 'none');\n`,
  'routes/preflight.options.ts': `${HANDLER}export default defineEventHandler(() => 'options');\n`,
  'routes/(group)/grouped.get.ts': `${HANDLER}export default defineEventHandler(() => 'grouped');\n`,
  'routes/built.get.prod.ts': `${HANDLER}export default defineEventHandler(() => 'built');\n`,
  'routes/developed.get.dev.ts': `${HANDLER}export default defineEventHandler(() => 'developed');\n`,
  'api/short.get.ts': `${HANDLER}export default defineEventHandler(() => 'short');\n`,
  'handlers/configured.ts': `${HANDLER}export default defineEventHandler(() => 'configured');\n`,
  'routes/body.post.ts': `${FROM_H3('defineEventHandler, readBody')}export default defineEventHandler((event) => readBody(event));\n`,
  'routes/errors/teapot.ts': `${FROM_H3('createError, defineEventHandler')}export default defineEventHandler(() => {
  throw createError({ statusCode: 418, message: 'short and stout' });
});\n`,
  'routes/errors/broken.ts': `${HANDLER}export default defineEventHandler(() => {
  throw new Error('a secret');
});\n`,
  'routes/errors/refused.ts': `${HANDLER}import { ServiceError } from '#server/errors/service-error.ts';
export default defineEventHandler(() => {
  throw new ServiceError('session.not_found', 'no such session');
});\n`,
  'routes/local.ts': `${HANDLER}${FROM_NITRO('useNitroApp')}export default defineEventHandler(async () => ({
  meta: await $fetch('/api/v1/meta'),
  hello: await $fetch('/hello'),
  called: (await useNitroApp().localCall({ url: '/api/v1/tools' })).status,
  posted: await $fetch('/api/v1/sessions', { method: 'POST', body: {} }),
}));\n`,
  'routes/storage.ts': `${HANDLER}${FROM_NITRO('runTask, useRuntimeConfig, useStorage')}export default defineEventHandler(async () => {
  await useStorage('memory').setItem('key', { stored: true });
  return {
    stored: await useStorage('memory').getItem('key'),
    setting: useRuntimeConfig().setting,
    ran: await runTask('mark'),
  };
});\n`,
  'routes/slow.ts': `import { appendFileSync } from 'node:fs';
${HANDLER}const mark = (text: string) => appendFileSync(process.env.PLUGIN_MARKS ?? '', text + '\\n');
export default defineEventHandler(async () => {
  const stopped = new Promise((resolve) => process.once('SIGTERM', () => setImmediate(resolve)));
  mark('waiting');
  await stopped;
  mark('answered');
  return 'slow';
});\n`,
  'routes/socket.ts': `${FROM_H3('defineWebSocketHandler')}export default defineWebSocketHandler({
  message: (peer, message) => void peer.send('echo ' + message.text()),
});\n`,
  'middleware/count.ts': `${FROM_H3('defineEventHandler, setResponseHeader')}let count = 0;
export default defineEventHandler((event) => {
  count += 1;
  setResponseHeader(event, 'x-count', count);
});\n`,
  'plugins/mark.ts': `import { appendFileSync, readdirSync } from 'node:fs';
${FROM_NITRO('defineNitroPlugin')}export default defineNitroPlugin(({ hooks }) => {
  const { PLUGIN_MARKS, PLUGIN_THROWS } = process.env;
  if (PLUGIN_THROWS) throw new Error(PLUGIN_THROWS);
  const mark = (text: string) => PLUGIN_MARKS && appendFileSync(PLUGIN_MARKS, text + '\\n');
  mark('started');
  const running = () => readdirSync(process.env.SERVICE_CODE_HOME + '/server/instances').length;
  hooks.hook('close', () => void mark('closed before ' + running() + ' app'));
});\n`,
  'tasks/mark.ts': `import { appendFileSync } from 'node:fs';
${FROM_NITRO('defineTask')}export default defineTask({
  run() {
    const { PLUGIN_MARKS } = process.env;
    if (PLUGIN_MARKS) appendFileSync(PLUGIN_MARKS, 'task\\n');
    return { result: 'ran' };
  },
});\n`,
};

/** Adds the files, and route rules and tasks to the configuration. `upstream` is the address that `/proxied` asks. */
export async function addNitroIdioms({ write, edit }: ProjectCopy, upstream: string): Promise<void> {
  for (const [name, text] of Object.entries(FILES)) await write(name, text);
  await edit('nitro.config.ts', '{ websocket: true }', '{ websocket: true, tasks: true }');
  await edit(
    'nitro.config.ts',
    '  srcDir:',
    `  routeRules: {
    '/old/**': { redirect: '/hello' },
    '/proxied': { proxy: '${upstream}' },
    '/api/v1/meta': { headers: { 'x-rule': 'yes' } },
  },
  handlers: [{ route: '/configured', method: 'get', handler: '~/handlers/configured.ts', lazy: true }],
  runtimeConfig: { setting: 'default' },
  storage: { memory: { driver: 'memory' } },
  scheduledTasks: { '* * * * * *': 'mark' },
  srcDir:`,
  );
}
