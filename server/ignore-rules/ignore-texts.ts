/** Only the complete lines in this many bytes of an ignore file are used. */
export const IGNORE_FILE_MAX_BYTES = 131_072;

/** Texts of the ignore files of a directory without a `.git`; undefined for a missing file. */
export interface IgnoreTexts {
  ignore?: string | undefined;
  gitignore?: string | undefined;
}
