/** The note pad: a short text of the session that the user writes over REST, and the main agent with a tool. */
import type { Feature } from '#server/agent/contract/feature.ts';
import { MAIN_AGENT } from '#schema/agents.ts';
import { noteProjection } from './projection.ts';
import { noteOf } from './rest.ts';
import { createNotePadTool } from './tool.ts';

export const notePad: Feature = {
  name: 'note-pad',
  projection: noteProjection,
  open({ log }) {
    const tools = [createNotePadTool(() => noteOf(log.state).content)];
    return { tools: ({ id }) => (id === MAIN_AGENT ? tools : []) };
  },
};
