/** The client that sent a request, where the request identifies it. Clients choose their name and id themselves. */
import * as z from 'zod';

export const CALLER_NAME_CHARS = 100;
export const USER_AGENT_CHARS = 200;

export const callerSchema = z
  .object({
    /** `X-Service-Client-Name`. */
    client_name: z.string().optional(),
    /** Hash of `X-Service-Client-Id`, which the response to it returns as `X-Service-Client-Public-Id`. */
    client_id: z.string().optional(),
    user_agent: z.string().optional(),
    /** Client address; an IPv4-mapped IPv6 address is written as IPv4. */
    remote_address: z.string().optional(),
  })
  .meta({ id: 'Caller' });
export type Caller = z.infer<typeof callerSchema>;

/** The same fields in the transcript's camel case. */
export const transcriptCallerSchema = z
  .object({
    clientName: z.string().optional(),
    clientId: z.string().optional(),
    userAgent: z.string().optional(),
    remoteAddress: z.string().optional(),
  })
  .meta({ id: 'TranscriptCaller' });
export type TranscriptCaller = z.infer<typeof transcriptCallerSchema>;

/** Converts the snake case of records to the camel case of transcripts. */
export const transcriptCaller = ({
  client_name: clientName,
  client_id: clientId,
  user_agent: userAgent,
  remote_address: remoteAddress,
}: Caller): TranscriptCaller => ({
  ...(clientName === undefined ? {} : { clientName }),
  ...(clientId === undefined ? {} : { clientId }),
  ...(userAgent === undefined ? {} : { userAgent }),
  ...(remoteAddress === undefined ? {} : { remoteAddress }),
});
