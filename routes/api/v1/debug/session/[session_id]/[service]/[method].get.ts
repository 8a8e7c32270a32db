import { sessionCall, defineDebugCallEndpoint } from '#utils/debug-endpoint.ts';

export default defineDebugCallEndpoint('get', sessionCall);
