import type { Draft } from './drafts.ts';
import { useWorkbench } from './workbench.ts';

/** The unsent prompt of a session; the same one for each caller. */
export const useDraft = (sessionId: string): Draft => useWorkbench().drafts.of(sessionId);
