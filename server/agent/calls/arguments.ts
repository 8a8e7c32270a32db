/** From the model's raw argument text to what a tool checks. */

/** Empty text and text that is no JSON count as `{}`; the tool's schema then says what is missing. */
export function parseArguments(text: string | null): unknown {
  if (!text?.trim()) return {};
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

/** What the model wrote, as clients are shown it where the tool does not take it: parsed if it can be. */
export function shownArguments(text: string | null): unknown {
  try {
    return JSON.parse(text || '{}');
  } catch {
    return text;
  }
}
