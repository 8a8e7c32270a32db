/**
 * All events that the server sends, with their payload schemas (without `type`, `time`, `agentId`, `sessionId`).
 * AsyncAPI, the journal's record types and the tests read this table; a new event is one line in its family's file.
 */
import type * as z from 'zod';
import { durableEvents } from './durable.ts';
import { globalEvents, volatileGlobalEvents } from './global.ts';
import { volatileEvents } from './volatile.ts';

export { durableEvents, globalEvents, volatileEvents, volatileGlobalEvents };

export type DurableType = keyof typeof durableEvents;
export type DurableFields<T extends DurableType> = z.infer<(typeof durableEvents)[T]>;
export type VolatileType = keyof typeof volatileEvents;
export type VolatileFields<T extends VolatileType> = z.infer<(typeof volatileEvents)[T]>;
export type GlobalType = keyof typeof globalEvents;
export type GlobalFields<T extends GlobalType> = z.infer<(typeof globalEvents)[T]>;
export type VolatileGlobalType = keyof typeof volatileGlobalEvents;
export type VolatileGlobalFields<T extends VolatileGlobalType> = z.infer<(typeof volatileGlobalEvents)[T]>;
