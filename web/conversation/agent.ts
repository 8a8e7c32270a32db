/** The agent whose conversation a component is part of. */
import { inject, provide, type InjectionKey } from 'vue';
import { MAIN_AGENT } from '@service-code/client';

const agentKey: InjectionKey<string> = Symbol('agent');

/** Rows below the calling component belong to this agent. */
export const provideAgent = (agentId: string): void => provide(agentKey, agentId);

/** Default: the main agent. */
export const useAgent = (): string => inject(agentKey, MAIN_AGENT);

/** A key that is unique in the session: ids of frames and calls are unique for each agent only. */
export const keyOf = (agentId: string, id: string): string => `${agentId} ${id}`;
