import * as z from 'zod';

/** A fact that a detection found; `optional` ones are not needed for `ready`. */
const stepSchema = z.object({
  id: z.string(),
  state: z.enum(['ok', 'missing', 'failed']),
  detail: z.string().optional(),
  optional: z.boolean().optional(),
});
export type CapabilityStep = z.infer<typeof stepSchema>;

/** The running or last installation of this process; `error` and `note` only after its end. */
export const capabilityInstallSchema = z
  .object({
    running: z.boolean(),
    step: z.string().optional(),
    /** Progress of the step, at most 99. */
    percent: z.number().min(0).max(100).optional(),
    error: z.string().optional(),
    note: z.string().optional(),
  })
  .meta({ id: 'CapabilityInstall' });
export type CapabilityInstall = z.infer<typeof capabilityInstallSchema>;

export const capabilitySchema = z
  .object({
    id: z.string(),
    pluginId: z.string().optional(),
    displayName: z.string(),
    description: z.string(),
    /** Whether it exists for this platform and architecture. */
    supported: z.boolean(),
    state: z.enum(['ready', 'partial', 'not_installed', 'unsupported']),
    version: z.string().optional(),
    steps: z.array(stepSchema),
    install: capabilityInstallSchema,
  })
  .meta({ id: 'Capability' });
export type CapabilityStatus = z.infer<typeof capabilitySchema>;
