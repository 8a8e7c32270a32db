/** The server's second credential and the keys of its models and services. */
const SECRET = /^SERVICE_(CODE_PASSWORD|(\w+_)?API_KEY)$/i;

/** The environment that children of the server get: its own without its secrets. */
export function childEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !SECRET.test(name)));
}
