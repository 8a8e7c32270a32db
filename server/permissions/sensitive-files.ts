/** Files that hold secrets by convention: tools never read or write them, and searches exclude them. */
import { sep } from 'node:path';

export interface SensitiveNames {
  /**
   * Suffixes of paths, in lower case. `*` is any text within a name, `{a,b}` one of them, `[-_]` one of these
   * characters, `/**` everything in a folder.
   */
  patterns: readonly string[];
  /** Patterns of matches that hold no secret. */
  except?: readonly string[];
}

const KEYS = '{id_rsa,id_dsa,id_ecdsa,id_ed25519,credentials}';
const withContent = (folders: readonly string[]) => folders.flatMap((folder) => [folder, `${folder}/**`]);

/** All patterns, as `docs/security.md` lists them. */
export const SENSITIVE_FILES: readonly SensitiveNames[] = [
  { patterns: ['.env', '.env.*'], except: ['.env.example', '.env.sample', '.env.template'] },
  {
    patterns: [KEYS, `${KEYS}[-_]*`, `${KEYS}.{bak,backup,copy,disabled,key,old,orig,pem,save,tmp}`],
    except: ['*.pub'],
  },
  {
    patterns: [
      '.netrc',
      '_netrc',
      '.npmrc',
      '.pypirc',
      '.git-credentials',
      '.envrc',
      '.pgpass',
      'credentials.json',
      'application_default_credentials.json',
    ],
  },
  { patterns: ['*.p12', '*.pfx', '*.jks', '*.keystore', '*.kdbx', '*.ppk'] },
  { patterns: ['.ssh/**'], except: ['*.pub', 'config', 'known_hosts*', 'authorized_keys'] },
  { patterns: withContent(['.aws/credentials', '.gcp/credentials', '.azure', '.config/gcloud', '.gnupg']) },
  { patterns: ['.kube/config', '.docker/config.json', '.config/gh/hosts.yml'] },
];

function source(pattern: string): string {
  return pattern
    .replace(/[.+^$()|\\]/g, '\\$&')
    .replace(/\{([^}]*)\}/g, (_found, members: string) => `(?:${members.replaceAll(',', '|')})`)
    .replace(/\/\*\*$/, '/[^]+')
    .replaceAll('*', '[^/]*');
}

/** Matches base names, and paths with slashes. Two regular expressions reject nearly all paths cheaply. */
function matcher(patterns: readonly string[]): (name: string, path: string) => boolean {
  const sources = (selected: readonly string[]) => selected.map(source).join('|') || '[]';
  const names = new RegExp(`^(?:${sources(patterns.filter((pattern) => !pattern.includes('/')))})$`);
  const paths = new RegExp(`(?:^|/)(?:${sources(patterns.filter((pattern) => pattern.includes('/')))})$`);
  return (name, path) => names.test(name) || paths.test(path);
}

const isAny = matcher(SENSITIVE_FILES.flatMap(({ patterns }) => patterns));
const matchers = SENSITIVE_FILES.map(({ patterns, except = [] }) => ({
  isSensitive: matcher(patterns),
  isHarmless: matcher(except),
}));

/** Whether the path as written names a sensitive file; the caller also has to test the path with links resolved. */
export function isSensitivePath(path: string): boolean {
  const given = (sep === '/' ? path : path.replaceAll(sep, '/')).toLowerCase();
  const whole = given.includes('//') || given.endsWith('/') ? given.split('/').filter(Boolean).join('/') : given;
  const name = whole.slice(whole.lastIndexOf('/') + 1);
  if (!isAny(name, whole)) return false;
  return matchers.some(({ isSensitive, isHarmless }) => isSensitive(name, whole) && !isHarmless(name, whole));
}

/** The number of bytes of a file that are checked for a private key. */
export const PRIVATE_KEY_BYTES = 4096;
/** NUL bytes are dropped before the test: in UTF-16 each of these characters has one. */
const PRIVATE_KEY = /^(?:ï»¿|ÿþ|þÿ)?-----BEGIN[^\r\n]*PRIVATE KEY(?: BLOCK)?-----/m;

/** Whether a file of any name begins with a private key in PEM or OpenPGP form. */
export function holdsPrivateKey(head: Uint8Array): boolean {
  const text = Buffer.from(head.subarray(0, PRIVATE_KEY_BYTES)).toString('latin1');
  return PRIVATE_KEY.test(text.replaceAll('\0', ''));
}

/** Message for the model that the file is not accessible. */
export const sensitiveText = (input: string): string =>
  `${input} is a sensitive file (it may hold secrets) and is not accessible to tools.`;
