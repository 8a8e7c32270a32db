import type { Command } from '../features/feature.ts';
import { t } from '../messages/messages.ts';

/** The text of a command in menus and in the palette. */
export const commandTitle = ({ title }: Command): string => (typeof title === 'string' ? t(title) : title());
