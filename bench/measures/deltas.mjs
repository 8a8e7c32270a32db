// A flood of deltas to many sockets of one session: CPU of the server from the prompt to the last socket's last frame.
import { follow } from '../client.mjs';
import { cpuMs } from '../processes.mjs';
import { inTurn } from '../rounds.mjs';
import { openTarget } from './turns.mjs';

const SOCKETS = 100;

async function flood(target) {
  const session = await target.session();
  const sockets = await Promise.all(Array.from({ length: SOCKETS }, () => follow(target.server, [session.id])));
  const [first, ...others] = sockets;
  const begun = cpuMs(target.server.pid);
  const ended = others.map((socket) => socket.next('"prompt.completed"', session.id));
  await session.turn(first, 'FLOOD');
  await Promise.all(ended);
  const cpu = cpuMs(target.server.pid) - begun;
  for (const socket of sockets) socket.close();
  return cpu;
}

export async function measureDeltas({ builds, model, bare, quick, report }) {
  const targets = await Promise.all(builds.map((directory) => openTarget({ directory, model })));
  try {
    await inTurn(2, targets, flood);
    const unit = await bare.cpuOfRequest();
    const [now, before] = await inTurn(quick ? 3 : 9, targets, flood);
    report.line({
      name: `2,000 deltas to ${SOCKETS} sockets: CPU`,
      unit: 'ms',
      now,
      before,
      against: { name: 'bare request', values: now.map(() => unit) },
    });
  } finally {
    await Promise.all(targets.map((target) => target.close()));
  }
}
