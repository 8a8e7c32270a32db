/** A session that is dragged from the list into a pane. */

const TYPE = 'application/x-service-code-session';
/** Part of the width of a pane, from its right edge, in which a dropped session opens to the right. */
const RIGHT_PART = 0.4;

export const dragSession = (transfer: DataTransfer | null, id: string): void => transfer?.setData(TYPE, id);
export const hasSession = (transfer: DataTransfer | null): boolean => transfer?.types.includes(TYPE) === true;
export const draggedSession = (transfer: DataTransfer | null): string => transfer?.getData(TYPE) ?? '';

/** Whether a position opens the session in the pane itself or in another one to its right. */
export const dropPlace = (x: number, { left, width }: { left: number; width: number }): 'here' | 'right' =>
  x - left > width * (1 - RIGHT_PART) ? 'right' : 'here';
