import { agentCall, defineDebugCallEndpoint } from '#utils/debug-endpoint.ts';

export default defineDebugCallEndpoint('get', agentCall);
