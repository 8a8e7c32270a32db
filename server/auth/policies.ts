/** Security headers of responses: content policy and framing. */

export interface PolicyRules {
  /** Whether other machines can open such connections. */
  exposed: boolean;
  /** False with `--dangerous-bypass-auth`. */
  needsCredentials: boolean;
  /** Literal origins from `SERVICE_CODE_CORS_ORIGINS`. */
  listedOrigins: ReadonlySet<string>;
}

export interface Policies {
  /** Headers of every response; empty if only this machine can connect. */
  readonly answer: Readonly<Record<string, string>>;
  /** Headers of the page on every bind; they replace those of `answer`. */
  readonly page: Readonly<Record<string, string>>;
}

/** Headers of responses with file content: opened as a document, it runs no script and has an opaque origin. */
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

/** True for an origin that can be used in a policy: no delimiter of its syntax, only characters allowed in headers. */
const isSource = (origin: string): boolean => URL.canParse(origin) && /^[!-~]+$/.test(origin) && !/[;,'"]/.test(origin);

/**
 * Creates the policies of one kind of connection. On loopback any page may frame this one, as editors do; without authentication only
 * listed origins may, because a framing page could trick the user into clicking approvals.
 */
export function createPolicies({ exposed, needsCredentials, listedOrigins }: PolicyRules): Policies {
  const framedBy = (origins: readonly string[]) => `${SOURCES}; frame-ancestors ${["'self'", ...origins].join(' ')}`;
  const withCredentials = exposed ? framedBy([]) : SOURCES;
  return {
    answer: exposed ? headersWith(framedBy([])) : {},
    page: headersWith(needsCredentials ? withCredentials : framedBy([...listedOrigins].filter(isSource))),
  };
}
