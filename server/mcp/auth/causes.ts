/** The reason of a failed sign-in as one line for people. Foreign texts are shortened, foreign bodies omitted. */
import { errorMessage } from '#server/errors/service-error.ts';
import { isRecord } from '#server/text/json.ts';
import { oneLine } from '../server-text.ts';

/** Matches errors by name instead of class, since the library is loaded only with the first sign-in. */
export function causeText(error: unknown): string {
  if (!isRecord(error)) return oneLine(errorMessage(error));
  const { name, status, code, cause } = error;
  const message = errorMessage(error);
  if (name === 'RegistrationRejectedError') return `the client registration was refused with HTTP ${String(status)}`;
  if (name === 'ZodError') return 'the authorization server sent what cannot be understood';
  if (name === 'SyntaxError') return 'the authorization server sent what is not JSON';
  if (name === 'TimeoutError') return 'the authorization server did not answer in time';
  if (name === 'OAuthError') {
    const raw = /^(?:HTTP (\d+): )?Invalid OAuth error response/.exec(message);
    if (raw) return `the authorization server answered with HTTP ${raw[1] ?? 'an error'}`;
    return oneLine(message === '' || message === code ? String(code) : `${String(code)}: ${message}`);
  }
  if (isRecord(cause) && typeof cause.code === 'string') return oneLine(`${message} (${cause.code})`);
  return oneLine(message === '' && typeof code === 'string' ? code : message);
}
