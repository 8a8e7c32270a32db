/** The text that users see for a server that requires a sign-in. */
export const requiresSignIn = (name: string): string =>
  `${name} requires OAuth: sign in from the MCP panel of the page, or with the tool of the server that is named authenticate`;
