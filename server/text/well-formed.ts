/**
 * Replaces unpaired surrogates by `\ufffd`: a file would contain another text than the one written, so comparisons with
 * it would always differ.
 */
export const wellFormed = (text: string): string => (/\p{Cs}/u.test(text) ? Buffer.from(text).toString() : text);
