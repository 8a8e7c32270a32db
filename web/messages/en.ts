/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { common } from './en/common.ts';
import { conversation } from './en/conversation.ts';
import { drafts } from './en/drafts.ts';
import { errors } from './en/errors.ts';
import { plans } from './en/plans.ts';
import { review } from './en/review.ts';
import { token } from './en/token.ts';
import { ui } from './en/ui.ts';

export const en = { ...common, ...conversation, ...drafts, ...errors, ...plans, ...review, ...token, ...ui };
