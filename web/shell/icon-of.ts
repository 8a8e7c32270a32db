import { iconNames, type IconName } from '../ui/icon-names.ts';

/** The icon of a feature's command or panel; undefined for names that the sprite lacks. */
export const iconOf = (name: string | undefined): IconName | undefined => iconNames.find((known) => known === name);
