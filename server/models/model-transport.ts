/** Requests to models, authorized with the credential of their model. */
import type { Account } from '#server/account/account.ts';
import type { Exchange, RequestAuth, Transport } from '#server/net/fetch.ts';
import type { ResolvedModel } from './types.ts';

/** Obtains access tokens of logins. */
export type ModelLogins = Pick<Account, 'authorized' | 'noteUse'>;

export interface ModelTransport {
  /** A `fetch` for one request to a model; `keyHeader` is the header for a key, logins always use `authorization`. */
  exchange(model: ResolvedModel, keyHeader: 'authorization' | 'x-goog-api-key'): Exchange;
}

export function createModelTransport(transport: Transport, logins: ModelLogins): ModelTransport {
  function authOf({ credential, baseUrl }: ResolvedModel, keyHeader: string): RequestAuth | undefined {
    if (!credential) return undefined;
    if ('key' in credential) {
      const { key } = credential;
      return { name: keyHeader, value: keyHeader === 'authorization' ? `Bearer ${key}` : key };
    }
    const { login } = credential;
    return {
      name: 'authorization',
      async authorize(send, signal) {
        if (baseUrl !== undefined) logins.noteUse(baseUrl);
        return logins.authorized(login, (token) => send(`Bearer ${token}`), {
          ...(signal && { signal }),
          discard: ({ body }) => body.cancel(),
        });
      },
    };
  }

  return { exchange: (model, keyHeader) => transport.exchange(model.headers, authOf(model, keyHeader)) };
}
