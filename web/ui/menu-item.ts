import type { IconName } from './icon-names.ts';

/** An entry of a menu. */
export interface MenuItem {
  id: string;
  label: string;
  icon?: IconName;
  /** Keys that do the same, such as `Mod+K`. */
  keys?: string;
  danger?: boolean;
  disabled?: boolean;
  /** Whether a switch is on; undefined for an action. */
  checked?: boolean;
  /** Whether a line separates it from the entry before. */
  separated?: boolean;
  run(): void;
}
