/** The package declares its types under the name that it was published with. */
declare module 'node-pty' {
  export * from '@lydell/node-pty';
}
