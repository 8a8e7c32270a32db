/** Thinking support and output limit of a Claude model, inferred from its name. */

export interface ClaudeProfile {
  /** Whether the model chooses its amount of thinking; otherwise a token budget is set. */
  adaptive: boolean;
  /** Whether it accepts `thinking: { type: 'disabled' }`. */
  canDisable: boolean;
}

interface Version {
  family: string;
  /** 4.6 is 406. */
  number: number;
}

/** Newest first within a family; the first row at or below the model's version applies. */
const MAX_OUTPUT_TOKENS: [family: RegExp, from: number, tokens: number][] = [
  [/./, 500, 128_000],
  [/opus|sonnet/, 406, 128_000],
  [/opus/, 405, 64_000],
  [/sonnet|haiku/, 400, 64_000],
  [/opus/, 400, 32_000],
  [/./, 305, 8192],
  [/./, 300, 4096],
];
const UNKNOWN_MAX_OUTPUT_TOKENS = 128_000;

export function isClaude(name: string): boolean {
  return /claude/i.test(name);
}

/** Returns the profile; a Claude of unknown version is treated as the newest, any other name as one with a budget. */
export function claudeProfile(name: string): ClaudeProfile {
  const version = claudeVersion(name);
  const alwaysThinks = /fable|mythos/i.test(name);
  if (alwaysThinks) return { adaptive: true, canDisable: false };
  if (!version) return { adaptive: isClaude(name), canDisable: true };
  return { adaptive: version.number >= 406, canDisable: true };
}

/** Default and upper limit of `max_tokens`. */
export function claudeMaxTokens(name: string): number {
  const version = claudeVersion(name);
  if (!version) return UNKNOWN_MAX_OUTPUT_TOKENS;
  const row = MAX_OUTPUT_TOKENS.find(([family, from]) => family.test(version.family) && version.number >= from);
  return row?.[2] ?? UNKNOWN_MAX_OUTPUT_TOKENS;
}

/** `family-major[-minor]` or `major[-minor]-family`, separated by `-`, `.` or `_`; a date is not a minor version. */
export function claudeVersion(name: string): Version | undefined {
  const family = '(opus|sonnet|haiku|fable|mythos)';
  const number = '(\\d{1,2})(?:[-._](\\d{1,2}))?(?!\\d)';
  const text = name.toLowerCase();
  const after = new RegExp(`${family}[-._]${number}`).exec(text);
  if (after) return version(after[1], after[2], after[3]);
  const before = new RegExp(`(?<!\\d)${number}[-._]${family}`).exec(text);
  if (before) return version(before[3], before[1], before[2]);
  return undefined;
}

function version(family = '', major = '0', minor = '0'): Version {
  return { family, number: Number(major) * 100 + Number(minor) };
}
