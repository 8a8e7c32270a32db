import { ageOf } from '../render/time.ts';
import { textOf } from './messages.ts';

/** The age of an ISO time as text, such as `5m`. */
export const timeAgo = (time: string, now = Date.now()): string => textOf(ageOf(time, now));
