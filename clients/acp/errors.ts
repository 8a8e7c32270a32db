/** Failures as JSON-RPC errors of the protocol. */
import { RequestError } from '@agentclientprotocol/sdk';
import { ApiError, reasonOf } from '@service-code/client';

const AUTH_REQUIRED = -32000;
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;

/** The error for a bad parameter, with its path in the message and in the data. */
export const invalid = (member: string, text: string): RequestError =>
  new RequestError(INVALID_PARAMS, `${member}: ${text}`, { [member]: text });

export const unknownSession = (id: string): RequestError => invalid('sessionId', `there is no session ${id}`);

/** The error for a server without a usable model; `url` is the address of its page. */
export const noModel = (url: string): RequestError =>
  new RequestError(
    AUTH_REQUIRED,
    `There is no usable model. Set one up at ${url} or in config.toml of the server's home.`,
  );

/** The error of a request or turn that has failed for a reason other than its parameters. */
export const internal = (message: string, data?: unknown): RequestError => new RequestError(INTERNAL, message, data);

/** Error codes of the API that are caused by a parameter, by the name of that parameter. */
const CAUSED_BY: Partial<Record<number, string>> = {
  40401: 'sessionId',
  40409: 'cwd',
  40411: 'cwd',
  41301: 'prompt',
};
const NO_MODEL = [40110, 40111, 40112, 40113];

/** Members of the API by those of the protocol, in the texts of errors. */
const RENAMED = [
  ['mcp_servers', 'mcpServers'],
  ['additional_dirs', 'additionalDirectories'],
] as const;

/** Converts any failure; `url` is the address of the server's page. */
export function toRequestError(error: unknown, url: string): RequestError {
  if (error instanceof RequestError) return error;
  if (!(error instanceof ApiError)) return internal(reasonOf(error));
  if (NO_MODEL.includes(error.code)) return noModel(url);
  const cause = CAUSED_BY[error.code];
  if (cause !== undefined) return invalid(cause, error.msg);
  if (error.code !== 40001) return internal(error.msg, { code: error.code });
  const text = RENAMED.reduce((msg, [name, shown]) => msg.replaceAll(name, shown), error.msg);
  return new RequestError(INVALID_PARAMS, text);
}
