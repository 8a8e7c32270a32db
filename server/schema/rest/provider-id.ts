/** Form of a provider's id. This file imports no `zod`: programs of threads use it, too. */
export const PROVIDER_ID = /^[\p{L}\p{N}][\p{L}\p{N}\-_ ]*$/u;
