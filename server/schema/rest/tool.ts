import * as z from 'zod';

/** One row of `GET /tools`. */
export const toolDescriptorSchema = z
  .object({
    name: z.string(),
    description: z.string(),
    input_schema: z.null(),
    source: z.enum(['builtin', 'skill', 'mcp']),
    mcp_server_id: z.string().optional(),
    active: z.boolean().optional(),
  })
  .meta({ id: 'ToolDescriptor' });
export type ToolDescriptor = z.infer<typeof toolDescriptorSchema>;
