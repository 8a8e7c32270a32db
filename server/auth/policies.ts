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
  /** For every answer. On loopback there are none, so that editors can frame the page, which has its own policy. */
  readonly answer: Readonly<Record<string, string>>;
  /** For the page; they replace those of `answer`. */
  readonly page: Readonly<Record<string, string>>;
}

/** For answers with bytes of a file: opened as a document, it runs no script and belongs to no origin. */
export const FILE_POLICY = {
  'content-security-policy': "sandbox; default-src 'none'",
  'cross-origin-resource-policy': 'same-origin',
};

const REMOTE_POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; form-action 'self'; base-uri 'none'";

/** An origin that can be part of a policy: it has no delimiter of the syntax and no character that headers cannot carry. */
const isSource = (origin: string): boolean => URL.canParse(origin) && /^[!-~]+$/.test(origin) && !/[;,'"]/.test(origin);

/**
 * The policies of one server. Without credentials a page that frames this one could have the user click approvals, so
 * only listed origins may.
 */
export function createPolicies({ loopback, needsCredentials, listedOrigins }: PolicyRules): Policies {
  const framing = (sources: readonly string[]) => `frame-ancestors ${sources.join(' ')}`;
  const remote = (sources: readonly string[]) => `${REMOTE_POLICY}; ${framing(sources)}`;
  const framers = ["'self'", ...[...listedOrigins].filter(isSource)];
  const pagePolicy = loopback ? framing(framers) : remote(framers);
  return {
    answer: loopback
      ? {}
      : {
          'x-content-type-options': 'nosniff',
          'referrer-policy': 'no-referrer',
          'content-security-policy': remote(["'self'"]),
        },
    page: needsCredentials ? {} : { 'content-security-policy': pagePolicy },
  };
}
