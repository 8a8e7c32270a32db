/** Program of the thread that matches an expression against lines. */
import { workerData } from 'node:worker_threads';
import { serveRequests } from '#server/threads/serve-requests.ts';

const expression: RegExp = workerData;

serveRequests<readonly string[]>({ answer: (lines) => lines.map((line) => line.search(expression)) });
