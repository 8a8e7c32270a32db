// Serializes and sends the bodies in the files named, and reads the answers: what a turn's request costs at the very
// least. Prints, one line of JSON, the CPU of one send per file in ms, the median of several rounds.
import { readFileSync } from 'node:fs';

const ROUNDS = 7;
const SENDS = 20;

const [url, ...files] = process.argv.slice(2);
const bodies = files.map((file) => JSON.parse(readFileSync(file, 'utf8')));

async function send(body) {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  for await (const _ of response.body);
}

const figures = bodies.map(() => []);
for (let round = 0; round <= ROUNDS; round += 1) {
  for (const [place, body] of bodies.entries()) {
    const begun = process.cpuUsage();
    for (let n = 0; n < SENDS; n += 1) await send(body);
    const { user, system } = process.cpuUsage(begun);
    // The first round warms up.
    if (round > 0) figures[place].push((user + system) / 1000 / SENDS);
  }
}
console.log(JSON.stringify(figures.map((each) => each.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)])));
