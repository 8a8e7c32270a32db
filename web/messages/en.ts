/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { common } from './en/common.ts';
import { drafts } from './en/drafts.ts';
import { token } from './en/token.ts';
import { ui } from './en/ui.ts';

import { errors } from './en/errors.ts';
import { conversation } from './en/conversation.ts';
export const en = { ...common, ...drafts, ...token, ...ui, ...errors, ...conversation };
