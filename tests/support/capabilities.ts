/** A capability whose detection and installation the test controls. */
import type { Capability, Detection, Installer, InstallResult, Progress } from '#server/capabilities/capability.ts';

export interface FakeInstall {
  report(progress: Progress): void;
  /** Aborted when the server stops. */
  signal: AbortSignal;
  succeed(result?: InstallResult): void;
  fail(error: Error): void;
}

export interface FakeCapability extends Capability {
  /** Replaceable while the test runs. */
  installer: Installer;
  /** The installations so far, oldest first. */
  installs: FakeInstall[];
}

/** Default of `detect`: one required step that is missing. An installation runs until the test ends it. */
export function fakeCapability(
  id = 'fake',
  detect: (signal: AbortSignal) => Promise<Detection> = async () => ({ steps: [{ id: 'program', state: 'missing' }] }),
): FakeCapability {
  const installs: FakeInstall[] = [];
  return {
    id,
    displayName: `Fake ${id}`,
    description: 'Does nothing.',
    installs,
    installer: {
      detect,
      install: (report, signal) =>
        new Promise((resolve, reject) => {
          installs.push({ report, signal, succeed: (result = {}) => resolve(result), fail: reject });
        }),
    },
  };
}
