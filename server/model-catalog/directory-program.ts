/** Program of the thread that parses the directory. */
import { serveRequests } from '#server/threads/serve-requests.ts';
import { trimDirectory } from './trim-directory.ts';

serveRequests<Uint8Array>({ answer: trimDirectory });
