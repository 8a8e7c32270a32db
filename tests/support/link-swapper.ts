/** A thread that replaces files with links and restores them, as fast as it can. */
import { Worker } from 'node:worker_threads';

const source = `
const { renameSync, symlinkSync, unlinkSync } = require('node:fs');
const { workerData, parentPort } = require('node:worker_threads');
const { pairs, turns } = workerData;
const view = new Int32Array(turns);
let made = 0;
/** Whoever makes missing directories may have been faster. */
function claim(place, work) {
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (error.code !== 'EEXIST' && error.code !== 'ENOTEMPTY') throw error;
      renameSync(place, place + '.made' + made++);
    }
  }
}
while (Atomics.load(view, 1) === 0) {
  for (const [place, link] of pairs) {
    renameSync(place, place + '.away');
    claim(place, () => symlinkSync(link, place));
    for (let spin = Math.random() * 20000; spin > 0; spin--);
    unlinkSync(place);
    claim(place, () => renameSync(place + '.away', place));
    for (let spin = Math.random() * 20000; spin > 0; spin--);
  }
  Atomics.add(view, 0, 1);
}
parentPort.postMessage('done');
`;

export interface LinkSwapper {
  /** How many times all pairs were swapped. */
  turns(): number;
  /** Stops after the running swap; all originals are restored. */
  stop(): Promise<void>;
}

/** Replaces each `place` with a link whose target is `link`, and restores it, until it is stopped. */
export function startLinkSwapper(pairs: [place: string, link: string][]): LinkSwapper {
  const turns = new SharedArrayBuffer(8);
  const view = new Int32Array(turns);
  const worker = new Worker(source, { eval: true, workerData: { pairs, turns } });
  const done = new Promise<void>((resolve, reject) => {
    worker.once('message', () => resolve());
    worker.once('error', reject);
  });
  return {
    turns: () => Atomics.load(view, 0),
    async stop() {
      Atomics.store(view, 1, 1);
      await done;
      await worker.terminate();
    },
  };
}
