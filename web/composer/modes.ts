/** The permission modes, in rising order of what they allow. */
import type { PermissionMode } from '@service-code/client';

export const permissionModes = ['manual', 'auto', 'yolo'] as const satisfies readonly PermissionMode[];
