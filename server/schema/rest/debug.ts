/** Replies of the debug endpoints, spelled in camelCase, which their development tools expect. */
import * as z from 'zod';
import { count } from '../scalars.ts';

const memberSchema = z.object({
  name: z.string(),
  kind: z.enum(['method', 'property']),
  /** Number of parameters. */
  arity: count,
  /** Names of the parameters, separated by commas. */
  params: z.string(),
});

export const channelSchema = z.object({
  name: z.string(),
  scope: z.enum(['app', 'session', 'agent']),
  domain: z.string(),
  methods: z.array(memberSchema),
});
export type Channel = z.infer<typeof channelSchema>;

const runtimeInfoSchema = z.object({
  runtimeId: z.string(),
  generation: z.string(),
  status: z.string(),
  capabilities: z.array(z.string()),
});
export type RuntimeInfo = z.infer<typeof runtimeInfoSchema>;

const runtimeRefSchema = z.object({ workspaceId: z.string(), runtimeId: z.string() });

export const workspaceSnapshotSchema = z.object({
  metadata: z.object({
    id: z.string(),
    root: z.string(),
    name: z.string(),
    /** Milliseconds since the epoch. */
    createdAt: z.number(),
    lastOpenedAt: z.number(),
  }),
  lifecycle: z.string(),
  program: z.object({
    workspaceId: z.string(),
    binding: runtimeRefSchema,
    status: z.string(),
    ready: z.boolean(),
    generation: z.string(),
    trusted: z.boolean(),
    catalog: z.object({
      skills: z.object({ total: count, invocable: count, skipped: count }),
      agentProfiles: count,
      mcpServers: count,
    }),
    sources: z.object({
      skills: z.array(z.object({ source: z.string(), count })),
      skillRoots: z.array(z.string()),
      agentProfiles: z.array(z.object({ sourceId: z.string(), priority: z.number(), profiles: z.array(z.string()) })),
      instructionPaths: z.array(z.string()),
      mcpServers: z.array(z.string()),
    }),
    runtimes: z.array(runtimeInfoSchema),
  }),
  runtimes: z.object({ workspaceId: z.string(), runtimes: z.array(runtimeInfoSchema) }),
});
export type WorkspaceSnapshot = z.infer<typeof workspaceSnapshotSchema>;

export const associationSchema = z.object({ sessionId: z.string(), workspaceId: z.string(), cwd: z.string() });
export type Association = z.infer<typeof associationSchema>;

export const agentBindingSchema = z.object({
  binding: runtimeRefSchema,
  available: z.boolean(),
  runtime: runtimeInfoSchema.optional(),
});
export type AgentBinding = z.infer<typeof agentBindingSchema>;
