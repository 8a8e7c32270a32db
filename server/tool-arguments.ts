/** Arguments of a tool call: the model's raw text, parsed for the tool, for providers and for people. */
import { asRecord, tryParseJson } from './json.ts';

/** Arguments for the tool; `{}` for an empty text and for one that is no JSON, so that the tool's schema reports what is missing. */
export function parseArguments(text: string | null): unknown {
  const value = text === null ? undefined : tryParseJson(text);
  return value === undefined ? {} : value;
}

/** Arguments for a provider that takes an object: `{}` when the model wrote none, or no JSON object. */
export const argumentsObject = (text: string | null): Record<string, unknown> => ({
  ...asRecord(parseArguments(text)),
});

/** Arguments for a provider that takes text: verbatim when the model wrote a JSON object, else `{}`. */
export const argumentsText = (text: string | null): string =>
  text !== null && asRecord(tryParseJson(text)) ? text : '{}';

/** Arguments for people: `{}` for an empty text, the raw text when it is no JSON. */
export function shownArguments(text: string | null): unknown {
  if (!text?.trim()) return {};
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
