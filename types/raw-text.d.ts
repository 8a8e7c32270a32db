/** The text of a Markdown file; in the build by `build/raw-text.ts`, elsewhere by Vite. */
declare module '*.md?raw' {
  const text: string;
  export default text;
}
