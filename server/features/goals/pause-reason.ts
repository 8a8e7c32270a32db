/** The reason for which a goal is paused after a failed or interrupted turn, by the class of the error. */

export const INTERRUPTED = 'Paused after interruption';

const reasons: [RegExp, string][] = [
  [/^provider\.rate_limit$/, 'Paused after a rate limit of the provider'],
  [/^provider\.(connection_error|overloaded)$/, 'Paused because the provider could not be reached'],
  [/^(provider\.auth_error|auth\.(?!model_not_resolved$).+)$/, 'Paused because the provider refused the credentials'],
  [/^provider\.filtered$/, 'Paused because the provider filtered an answer'],
  [/^(provider\.|context\.overflow$)/, 'Paused after an error of the provider'],
  [/^(model|config)\.|^auth\.model_not_resolved$/, 'Paused because of the configuration of the model'],
];

/** `code` is that of the error that failed the turn. */
export const pauseReason = (code: string | undefined): string =>
  reasons.find(([pattern]) => pattern.test(code ?? ''))?.[1] ?? 'Paused after an error of the server';
