/** Names of the server's password and of API keys for models and services. */
const SECRET = /^SERVICE_(CODE_PASSWORD|(\w+_)?API_KEY)$/i;

/** The environment of child processes: the server's without its secrets. */
export function childEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !SECRET.test(name)));
}
