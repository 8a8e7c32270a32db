/** Program: runs the bridge on its standard streams. `SERVICE_URL` and `SERVICE_TOKEN` name the server. */
import { WebSocket } from 'undici';
import { runAcp } from '../../clients/acp/main.ts';
import { limitYoungGeneration } from '../../clients/acp/process-memory.ts';

limitYoungGeneration();
const { SERVICE_URL: url = '', SERVICE_TOKEN: token = '' } = process.env;
await runAcp({
  url,
  token,
  WebSocket,
  version: '0.0.0-test',
  input: process.stdin,
  output: process.stdout,
  log: (text) => process.stderr.write(`${text}\n`),
});
process.exit(0);
