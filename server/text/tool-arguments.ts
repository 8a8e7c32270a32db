/** Parses the arguments of a tool call (the model's raw text) for the tool, for providers and for people. */
import { asRecord, tryParseJson } from './json.ts';

/** Arguments for the tool; `{}` for an empty or malformed text, so that the tool's schema reports missing members. */
export function parseArguments(text: string | null): unknown {
  const value = text === null ? undefined : tryParseJson(text);
  return value === undefined ? {} : value;
}

/** Arguments for a provider that accepts an object: `{}` for a text that is empty or not a JSON object. */
export const argumentsObject = (text: string | null): Record<string, unknown> => ({
  ...asRecord(parseArguments(text)),
});

/** Arguments for a provider that accepts text: verbatim if the text is a JSON object, else `{}`. */
export const argumentsText = (text: string | null): string =>
  text !== null && asRecord(tryParseJson(text)) ? text : '{}';

/** Arguments for people: `{}` for an empty text, the raw text if it is not JSON. */
export function shownArguments(text: string | null): unknown {
  if (!text?.trim()) return {};
  const value = tryParseJson(text);
  return value === undefined ? text : value;
}
