/** The contract of a capability: a program outside the server that the server can detect and install. */
import type { CapabilityStep } from '#schema/rest/capability.ts';

export interface Capability {
  id: string;
  /** Id of the plugin that makes the program available to agents. */
  pluginId?: string;
  displayName: string;
  /** One sentence. */
  description: string;
  /** Undefined where the platform or architecture is not supported. */
  installer?: Installer;
}

/** Facts about an installed capability. */
export interface Detection {
  version?: string;
  /** In the order in which clients display them. */
  steps: readonly CapabilityStep[];
}

/** Progress of an installation; a member that is absent remains unchanged, but a new `step` drops the `percent`. */
export interface Progress {
  step?: string;
  /** Rounded down, at most 99 until the installation has ended. */
  percent?: number;
}

export interface Installer {
  /** Inspects the machine without a change to it. `signal` aborts at the time limit, after which the result is ignored. */
  detect(signal: AbortSignal): Promise<Detection>;
  /**
   * Installs, or updates what is installed. `report` may be called at any rate. `signal` aborts when the server stops,
   * which does not wait for the installation: its processes must be ended by listeners of the signal.
   */
  install(report: (progress: Progress) => void, signal: AbortSignal): Promise<InstallResult>;
}

export interface InstallResult {
  /** A word for clients about a side effect, such as `user-skill-migrated`. */
  note?: string;
}
