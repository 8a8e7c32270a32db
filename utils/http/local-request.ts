import { IncomingMessage as LocalRequest } from 'node-mock-http';

/**
 * Whether Nitro made the request within the process (`$fetch('/…')`, `localCall`). It is known by its class: a request
 * whose socket has closed has no address either.
 */
export const isLocalRequest = (request: object): boolean => request instanceof LocalRequest;
