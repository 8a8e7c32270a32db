/** Header fields that tell browsers what answers of this server may do, and which pages may frame it. */

export interface PolicyRules {
  /** Whether only this machine reaches the bind. */
  loopback: boolean;
  /** False with `--dangerous-bypass-auth`. */
  needsCredentials: boolean;
  /** Literal origins of `SERVICE_CODE_CORS_ORIGINS`. */
  listedOrigins: ReadonlySet<string>;
}

export interface Policies {
  /** For every answer; none on loopback. */
  readonly answer: Readonly<Record<string, string>>;
  /** For the page on every bind; they replace those of `answer`. */
  readonly page: Readonly<Record<string, string>>;
}

/** For answers with bytes of a file: opened as a document, it runs no script and belongs to no origin. */
export const FILE_POLICY = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

const SOURCES =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; form-action 'self'; base-uri 'none'";

const headersWith = (policy: string) => ({
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': policy,
});

/** An origin that can be part of a policy: it has no delimiter of the syntax and no character that headers cannot carry. */
const isSource = (origin: string): boolean => URL.canParse(origin) && /^[!-~]+$/.test(origin) && !/[;,'"]/.test(origin);

/**
 * Creates the policies of one server. On loopback every page may frame this one, as editors do; without credentials a page
 * that frames it could have the user click approvals, so only listed origins may.
 */
export function createPolicies({ loopback, needsCredentials, listedOrigins }: PolicyRules): Policies {
  const framedBy = (origins: readonly string[]) => `${SOURCES}; frame-ancestors ${["'self'", ...origins].join(' ')}`;
  const withCredentials = loopback ? SOURCES : framedBy([]);
  return {
    answer: loopback ? {} : headersWith(framedBy([])),
    page: headersWith(needsCredentials ? withCredentials : framedBy([...listedOrigins].filter(isSource))),
  };
}
