/** Files that hold secrets by convention: never read or written by a tool, left out of searches. */
import { sep } from 'node:path';

const harmlessEnvironmentFiles = new Set(['.env.example', '.env.sample', '.env.template']);
const environmentFile = /^\.env(\..*)?$/s;
const keyFile =
  /^(id_rsa|id_ed25519|id_ecdsa|credentials)($|[-_]|\.(bak|backup|copy|disabled|key|old|orig|pem|save|tmp)$)/;
const credentialFolders = new Set(['.aws', '.gcp']);

/** Whether the path, as written, names a sensitive file; the caller asks once more for the path with links resolved. */
export function isSensitivePath(path: string): boolean {
  const segments = path.toLowerCase().split(sep).filter(Boolean);
  const name = segments.at(-1) ?? '';
  if (environmentFile.test(name) && !harmlessEnvironmentFiles.has(name)) return true;
  if (keyFile.test(name) && !name.endsWith('.pub')) return true;
  return segments.some(
    (segment, index) => segment === 'credentials' && credentialFolders.has(segments[index - 1] ?? ''),
  );
}
