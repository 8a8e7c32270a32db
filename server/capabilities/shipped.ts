/** The capabilities of this build. It has no download addresses, so no platform is supported. */
import type { Capability } from './capability.ts';

export const shippedCapabilities: readonly Capability[] = [
  {
    id: 'service-cu',
    pluginId: 'service-cu',
    displayName: `Service Computer Use${process.platform === 'win32' ? ' for Windows' : ''}`,
    description: 'Lets agents see and operate the windows of your desktop apps.',
  },
  {
    id: 'service-webbridge',
    pluginId: 'service-webbridge',
    displayName: 'Service WebBridge',
    description: 'Lets agents control your own browser, with the pages that you are signed in to.',
  },
];
