/** Logins, the account's usage and its user on the wire. */
import * as z from 'zod';
import { isoTime, nonEmpty } from '../scalars.ts';

const provider = nonEmpty.default('managed:service-code');

/** The query of all operations on a provider's login. */
export const oauthQuerySchema = z.object({ provider });

export const regionSchema = z.enum(['mainland-cn', 'global']);

export const startLoginSchema = z.object({ provider, region: regionSchema.optional() });
export const logoutSchema = z.object({ provider });

const flowStatusSchema = z.enum(['pending', 'authenticated', 'denied', 'expired', 'cancelled']);
export type FlowStatus = z.infer<typeof flowStatusSchema>;

/** The code that a user enters at the cloud; all members are as the cloud issued them. */
const code = {
  /** Absolute addresses with `http:` or `https:`. */
  verification_uri: z.string(),
  verification_uri_complete: z.string(),
  user_code: z.string(),
  /** Seconds, not counted down. */
  expires_in: z.number(),
  /** Seconds. */
  interval: z.number(),
  /** Changes when an expired code was replaced. */
  expires_at: isoTime,
};

export const loginFlowSchema = z
  .object({
    flow_id: z.string(),
    provider: z.string(),
    status: flowStatusSchema,
    ...code,
    resolved_at: isoTime.optional(),
    error_message: z.string().optional(),
  })
  .meta({ id: 'LoginFlow' });
export type LoginFlow = z.infer<typeof loginFlowSchema>;

export const startedLoginSchema = z
  .discriminatedUnion('status', [
    z.object({ flow_id: z.string(), provider: z.string(), status: z.literal('pending'), ...code }),
    z.object({ flow_id: z.string(), provider: z.string(), status: z.literal('authenticated') }),
  ])
  .meta({ id: 'StartedLogin' });
export type StartedLogin = z.infer<typeof startedLoginSchema>;

/** `status` is the last one of the flow; `cancelled` if there is none. */
export const cancelledLoginSchema = z.object({ cancelled: z.boolean(), status: flowStatusSchema });
export type CancelledLogin = z.infer<typeof cancelledLoginSchema>;

export const loggedOutSchema = z.object({ logged_out: z.literal(true), provider: z.string() });
export type LoggedOut = z.infer<typeof loggedOutSchema>;

/** A failure of the cloud, reported with envelope code 0. */
const inBandErrorSchema = z.object({
  kind: z.literal('error'),
  message: nonEmpty,
  /** HTTP status of the cloud; absent without an answer. */
  status: z.int().optional(),
});
export type InBandError = z.infer<typeof inBandErrorSchema>;

const usageWindowSchema = z.object({
  /** 0 to 1. */
  usedRatio: z.number().min(0).max(1),
  resetAt: z.string().optional(),
});

/** Paid usage beyond the windows. */
export const extraUsageSchema = z.object({
  balanceCents: z.int(),
  totalCents: z.int(),
  monthlyChargeLimitEnabled: z.boolean(),
  monthlyChargeLimitCents: z.int(),
  monthlyUsedCents: z.int(),
  currency: z.string(),
});

export const quotaSchema = z
  .object({
    /** Only the windows that the account has. */
    usages: z.object({
      limit5h: usageWindowSchema.optional(),
      limit7d: usageWindowSchema.optional(),
      monthTotal: usageWindowSchema.optional(),
      monthCode: usageWindowSchema.optional(),
    }),
    extraUsage: extraUsageSchema.nullable(),
  })
  .meta({ id: 'Quota' });
export type Quota = z.infer<typeof quotaSchema>;

export const usageResultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok'), quota: quotaSchema }),
  inBandErrorSchema,
]);
export type UsageResult = z.infer<typeof usageResultSchema>;

export const userInfoSchema = z
  .object({
    userId: z.string(),
    nickname: z.string(),
    status: z.string(),
    region: z.string(),
    userLevel: z.int(),
    userLevelName: z.string(),
    domain: z.int(),
    domainName: z.string(),
    globalId: z.string().optional(),
    bio: z.string().optional(),
    avatar: z.string().optional(),
    username: z.string().optional(),
    email: z.string().optional(),
    createdTime: z.string().optional(),
    lastLoginTime: z.string().optional(),
    phone: z.object({ countryCode: z.string(), number: z.string() }).optional(),
  })
  .meta({ id: 'UserInfo' });
export type UserInfo = z.infer<typeof userInfoSchema>;

export const userInfoResultSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ok'), userInfo: userInfoSchema }),
  inBandErrorSchema,
]);
export type UserInfoResult = z.infer<typeof userInfoResultSchema>;

export const currentRegionSchema = z.object({ region: regionSchema });
