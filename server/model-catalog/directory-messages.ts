/** The answer of the thread that parses the directory. */
export interface DirectoryTexts {
  /** Pairs of the document's key and the entry as JSON, in document order. */
  entries: [id: string, text: string][];
  /** Keys of the entries that exceed a limit. */
  dropped: string[];
}
