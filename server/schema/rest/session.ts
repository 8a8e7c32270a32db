/** The Session object and the requests that create or change a session. */
import * as z from 'zod';
import { clientArray } from '../client-array.ts';
import { mcpServerInputSchema } from '../config/mcp-server.ts';
import { count, isoTime, nonEmpty, pendingInteraction, permissionModeSchema, turnOutcome } from '../scalars.ts';

export const usageSchema = z
  .object({
    input_tokens: count,
    output_tokens: count,
    cache_read_tokens: count,
    cache_creation_tokens: count,
    total_cost_usd: z.number().optional(),
    context_tokens: count,
    context_limit: count.optional(),
    turn_count: count.optional(),
  })
  .meta({ id: 'SessionUsage' });
export type SessionUsage = z.infer<typeof usageSchema>;

export const permissionRuleSchema = z.object({
  id: z.string(),
  tool_name: z.string(),
  matcher: z
    .object({ kind: z.enum(['command_prefix', 'path_glob', 'exact_input', 'always']), value: z.unknown().optional() })
    .optional(),
  decision: z.literal('approved'),
  created_at: isoTime,
  created_by: z.enum(['user', 'agent']),
});

export const sessionSchema = z
  .object({
    id: z.string(),
    workspace_id: z.string(),
    title: z.string(),
    created_at: isoTime,
    updated_at: isoTime,
    archived: z.boolean(),
    archived_at: isoTime.optional(),
    busy: z.boolean(),
    main_turn_active: z.boolean(),
    pending_interaction: pendingInteraction,
    last_turn_reason: turnOutcome.optional(),
    last_prompt: z.string().optional(),
    metadata: z.looseObject({ cwd: z.string() }),
    agent_config: z.object({ model: z.string() }),
    usage: usageSchema,
    permission_rules: z.array(permissionRuleSchema),
    message_count: count,
    last_seq: count,
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof sessionSchema>;

/** `agent_config` of requests; all members are validated, including those that an endpoint ignores. */
export const agentConfigSchema = z.object({
  model: z.string().optional(),
  system_prompt: z.string().optional(),
  tools: clientArray(z.string()).optional(),
  mcp_servers: clientArray(z.string()).optional(),
  thinking: nonEmpty.optional(),
  permission_mode: permissionModeSchema.optional(),
  plan_mode: z.boolean().optional(),
  swarm_mode: z.boolean().optional(),
  goal_objective: z.string().optional(),
  goal_control: z.enum(['pause', 'resume', 'cancel']).optional(),
});
export type AgentConfigRequest = z.infer<typeof agentConfigSchema>;

/** Most entries of a list that a client brings with a session. */
const CLIENT_LIST_MAX = 64;

/** Lists that a client brings with a session. They are held in memory only; an absent one is unchanged. */
export const clientListsShape = {
  mcp_servers: clientArray(mcpServerInputSchema, { max: CLIENT_LIST_MAX })
    .optional()
    .describe('MCP servers of this session alone, until it is unloaded; they shadow configured ones of the same name'),
  additional_dirs: clientArray(z.string(), { max: CLIENT_LIST_MAX })
    .optional()
    .describe('Absolute directories that extend the workspace for this session, until it is unloaded'),
};
const clientListsSchema = z.object(clientListsShape);
export type ClientLists = z.infer<typeof clientListsSchema>;

/** Optional overrides for a copy of a session. */
export const copyRequestSchema = z.object({ title: nonEmpty.optional(), metadata: z.looseObject({}).optional() });

export const statusSchema = z
  .object({
    busy: z.boolean(),
    model: z.string().optional(),
    thinking_level: z.string(),
    permission: permissionModeSchema,
    plan_mode: z.boolean(),
    swarm_mode: z.boolean(),
    context_tokens: count,
    max_context_tokens: count.optional(),
    context_usage: z.number().min(0).max(1).optional(),
  })
  .meta({ id: 'SessionStatus' });
export type SessionStatus = z.infer<typeof statusSchema>;

/** The runtime that an agent works on. */
export const runtimeBindingSchema = z.object({ workspace_id: z.string(), runtime_id: z.string() });
export type RuntimeBinding = z.infer<typeof runtimeBindingSchema>;

export const warningSchema = z.object({
  code: z.string(),
  message: z.string(),
  severity: z.enum(['info', 'warning', 'error']),
  /** For `project-config-ignored`: absolute path of the directory that has to be trusted. */
  directory: z.string().optional(),
});
export type SessionWarning = z.infer<typeof warningSchema>;
