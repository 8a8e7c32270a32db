/** The text of a Markdown file; in the build by `build/raw-text.ts`, elsewhere by Vite. */
declare module '*.md?raw' {
  const text: string;
  export default text;
}
/** The bytes of a file as base64; undefined if there is no such file. In the build and in tests by `build/base64.ts`. */
declare module '*?base64' {
  const data: string | undefined;
  export default data;
}
