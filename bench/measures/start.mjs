// Time from the spawn to the first healthy reply, of a build and of a bare `node:http` server.
import { createClient } from '../client.mjs';
import { makeHome, startBuilt, startProgram } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';

async function timed(startServer, path) {
  const begun = performance.now();
  const server = await startServer();
  const client = createClient(server);
  const { status } = await client.send('GET', path);
  const ms = performance.now() - begun;
  client.close();
  await server.stop();
  if (status !== 200) throw new Error(`${path} answered ${status}`);
  return ms;
}

export async function measureStart({ builds, model, quick, report }) {
  const homes = await Promise.all(builds.map(() => makeHome(model.url)));
  const starts = [
    () => timed(() => startProgram('bare-server'), '/'),
    ...builds.map(
      (directory, place) => () => timed(() => startBuilt(directory, { home: homes[place].home }), '/api/v1/healthz'),
    ),
  ];
  try {
    await inTurn(1, starts, (start) => start());
    const [bare, now, before] = await inTurn(quick ? 4 : 10, starts, (start) => start());
    report.line({
      name: 'start to the first healthy reply',
      unit: 'ms',
      now,
      before,
      against: { name: 'bare node:http', values: bare },
      aim: { most: 2.5, of: 'bare node:http' },
    });
  } finally {
    for (const { remove } of homes) remove();
  }
}
