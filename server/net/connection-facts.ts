/**
 * Facts of the connection on which a request arrived. They are determined when the connection is accepted; no header
 * changes them.
 */
import type { Duplex } from 'node:stream';

/** A connection to the server's port. */
export interface BindConnection {
  readonly kind: 'bind';
}

/** A stream of the remote-control tunnel. The relay reports the facts of the browser when it opens the stream. */
export interface TunnelConnection {
  readonly kind: 'tunnel';
  /** IP address of the browser. */
  readonly remoteAddress: string;
  readonly scheme: 'http' | 'https';
  /** Public `host[:port]`, as in the browser's address bar. */
  readonly host: string;
  /** Public path of this server without a final slash; empty if it is the root of its origin. */
  readonly prefix: string;
  /** Resolves when the bytes written to the connection have left this process, or the connection is lost. */
  flushed(): Promise<void>;
}

export type ConnectionFacts = BindConnection | TunnelConnection;

/** The facts of all connections to the port. */
export const BIND_CONNECTION: BindConnection = { kind: 'bind' };

/** One or more path segments that a base address may contain; none of them is empty, so it names no other host. */
const PREFIX = /^(?:\/[A-Za-z0-9._~!$&'()*+,;=:@%-]+)*$/;
const DOT_SEGMENT = /\/\.{1,2}(?:\/|$)/;

/** Whether a relay may report this prefix. */
export const isValidPrefix = (prefix: string): boolean => PREFIX.test(prefix) && !DOT_SEGMENT.test(prefix);

/** Takes over a connection that was accepted, as `http.Server` does. */
export type AcceptConnection = (connection: Duplex, facts: TunnelConnection) => void;
