/** Program of the thread that parses the document of a registry. */
import { serveRequests } from '#server/threads/serve-requests.ts';
import { registryTexts } from './registry-document.ts';

serveRequests<Uint8Array>({ answer: registryTexts });
