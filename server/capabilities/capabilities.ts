/** The capabilities of a server for clients: detection at each read, installation in the background. */
import { abortable } from '#server/async/abortable.ts';
import type { Clock } from '#server/clock.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import type { CapabilityStatus } from '#schema/rest/capability.ts';
import type { Capability, Detection, Installer } from './capability.ts';
import { createInstalls, failureText, type InstallsDeps } from './installs.ts';

/** Time limit of a detection in ms; each of the commands that it runs may take 3 s. */
export const DETECTION_MS = 5000;

export interface Capabilities {
  /** All capabilities in the order of the table. A detection that fails is a failed step of its capability. */
  list(): Promise<CapabilityStatus[]>;
  /** Throws `capability.not_found`, and `internal.error` when the detection fails. */
  get(id: string): Promise<CapabilityStatus>;
  /**
   * Starts an installation and returns the status, without waiting for the installation. Throws `capability.not_found`,
   * `capability.unsupported`, `capability.install_in_progress`; `internal.error` when the detection for the reply fails,
   * and then the installation runs nevertheless.
   */
  install(id: string): Promise<CapabilityStatus>;
  /** Aborts running installations without waiting for them. */
  close(): void;
}

export interface CapabilitiesDeps extends InstallsDeps {
  /** Ids are unique. */
  table: readonly Capability[];
}

/** Detects within the time limit. */
async function detect({ detect: run }: Installer, clock: Clock): Promise<Detection> {
  const limit = new AbortController();
  const cancelTimer = clock.setTimeout(
    () => limit.abort(new Error(`The detection took more than ${DETECTION_MS / 1000} s`)),
    DETECTION_MS,
  );
  try {
    return await abortable(run(limit.signal), limit.signal);
  } finally {
    cancelTimer();
  }
}

type Detected = Pick<CapabilityStatus, 'state' | 'version' | 'steps'>;

function summarize({ version, steps }: Detection): Detected {
  const isOk = ({ state }: (typeof steps)[number]) => state === 'ok';
  const isReady = steps.filter(({ optional }) => !optional).every(isOk);
  return {
    state: isReady ? 'ready' : steps.some(isOk) ? 'partial' : 'not_installed',
    ...(version === undefined ? {} : { version }),
    steps: [...steps],
  };
}

const failedDetection = (error: unknown): Detected => ({
  state: 'not_installed',
  steps: [{ id: 'detect', state: 'failed', detail: failureText(error) }],
});

/** Creates the service; it detects and installs nothing before a request. */
export function createCapabilities(deps: CapabilitiesDeps): Capabilities {
  const { table, clock } = deps;
  const installs = createInstalls(deps);

  async function statusOf(
    { id, pluginId, displayName, description, installer }: Capability,
    onFailure: (error: unknown) => Detected,
  ): Promise<CapabilityStatus> {
    const detected: Detected = installer
      ? await detect(installer, clock).then(summarize).catch(onFailure)
      : { state: 'unsupported', steps: [] };
    const { state, version, steps } = detected;
    return {
      id,
      ...(pluginId === undefined ? {} : { pluginId }),
      displayName,
      description,
      supported: installer !== undefined,
      state,
      ...(version === undefined ? {} : { version }),
      steps,
      install: installs.state(id),
    };
  }

  const readStatus = (capability: Capability) =>
    statusOf(capability, (error) => {
      throw new ServiceError('internal.error', failureText(error), { cause: error });
    });

  function find(id: string): Capability {
    const found = table.find((capability) => capability.id === id);
    if (!found) throw new ServiceError('capability.not_found', `Capability "${id}" is not registered`);
    return found;
  }

  return {
    list: () => Promise.all(table.map((capability) => statusOf(capability, failedDetection))),
    get: async (id) => readStatus(find(id)),
    async install(id) {
      const capability = find(id);
      const { installer } = capability;
      if (!installer) {
        const { platform, arch } = process;
        throw new ServiceError('capability.unsupported', `Capability "${id}" is not supported on ${platform}/${arch}`);
      }
      if (!installs.start(id, installer)) {
        throw new ServiceError('capability.install_in_progress', `Capability "${id}" is already being installed`);
      }
      return readStatus(capability);
    },
    close: installs.close,
  };
}
