/** Schema of a configuration change as clients send it. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';

const anything = z.unknown().optional();
const flag = z.boolean().nullish();
const text = z.string().nullish();

/** Body of `POST /config`. Checks types only; the values of a domain are validated after the merge. */
export const configPatchSchema = z
  .object({
    providers: z.record(z.string(), z.unknown()).optional(),
    models: z.record(z.string(), z.unknown()).optional(),
    experimental: z.record(z.string(), z.boolean().nullable()).nullish(),
    default_provider: text,
    default_model: text,
    default_permission_mode: text,
    plan_mode: flag,
    yolo: flag,
    default_plan_mode: flag,
    merge_all_available_skills: flag,
    telemetry: flag,
    auto_session_title: flag,
    hooks: clientArray(z.unknown()).nullish(),
    extra_skill_dirs: clientArray(z.string()).nullish(),
    thinking: anything,
    permission: anything,
    services: anything,
    loop_control: anything,
    background: anything,
    subagent: anything,
    secondary_model: anything,
  })
  .meta({ id: 'ConfigPatch' });
export type ConfigPatch = z.infer<typeof configPatchSchema>;
