/** The request to the thread that extracts the text of a page, and its answer. */
export interface ExtractionLimits {
  /** Characters of the page that are parsed. */
  html: number;
  /** Characters of the text. */
  output: number;
  title: number;
  /** Upper limits of pages whose main part is searched for. */
  elements: number;
  depth: number;
}

export interface ExtractionRequest {
  bytes: Uint8Array<ArrayBuffer>;
  encoding: string;
  limits: ExtractionLimits;
}

export interface ExtractedText {
  title: string;
  text: string;
}
