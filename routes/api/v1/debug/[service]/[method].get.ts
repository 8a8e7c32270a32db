import { appCall, defineDebugCallEndpoint } from '#utils/debug-endpoint.ts';

export default defineDebugCallEndpoint('get', appCall);
