import type { Session } from '@service-code/client';
import { knownTitleOf } from '../state/session-list.ts';
import { t } from './messages.ts';

/** The title of a session, or a substitute. */
export const titleOf = (session: Session): string => knownTitleOf(session) || t('shell.untitled');
