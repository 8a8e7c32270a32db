/** The text of a thread's program, bundled by `build/threads.ts`. */
declare module '*?thread' {
  const program: string;
  export default program;
}
