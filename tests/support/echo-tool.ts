import * as z from 'zod';
import { defineTool, type Tool } from '#server/tools/tool.ts';

/** A tool without effects that returns its text. */
export const echo: Tool = defineTool({
  name: 'Echo',
  permission: 'free',
  effects: 'none',
  description: '',
  parameters: z.object({ text: z.string().default('echo') }),
  prepare: ({ text }) => ({
    accesses: [],
    label: `Echo ${text}`,
    subject: { match: 'literal' },
    run: () => Promise.resolve({ output: text }),
  }),
});
