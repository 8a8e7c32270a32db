/** Protocol, variables and default address of each wire type of a provider. */
import { envText } from '#server/env.ts';
import { wireTypeSchema } from '#schema/config/provider-record.ts';
import { DEFAULT_BASE_URL } from '#server/account/regions.ts';
import type { ProtocolName, WireType } from '../types.ts';

interface WireSettings {
  protocol: ProtocolName;
  keyVariable: string;
  baseUrlVariable: string;
  /** Undefined for Vertex, which derives it from project and location. */
  defaultBaseUrl?: string;
}

export const WIRE_TYPES: Record<WireType, WireSettings> = {
  native: {
    protocol: 'native',
    keyVariable: 'SERVICE_API_KEY',
    baseUrlVariable: 'SERVICE_BASE_URL',
    defaultBaseUrl: DEFAULT_BASE_URL,
  },
  anthropic: {
    protocol: 'anthropic',
    keyVariable: 'ANTHROPIC_API_KEY',
    baseUrlVariable: 'ANTHROPIC_BASE_URL',
    defaultBaseUrl: 'https://api.anthropic.com',
  },
  openai: {
    protocol: 'openai',
    keyVariable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    defaultBaseUrl: 'https://api.openai.com/v1',
  },
  openai_responses: {
    protocol: 'openai_responses',
    keyVariable: 'OPENAI_API_KEY',
    baseUrlVariable: 'OPENAI_BASE_URL',
    defaultBaseUrl: 'https://api.openai.com/v1',
  },
  'google-genai': {
    protocol: 'google-genai',
    keyVariable: 'GOOGLE_API_KEY',
    baseUrlVariable: 'GOOGLE_GEMINI_BASE_URL',
    defaultBaseUrl: 'https://generativelanguage.googleapis.com',
  },
  vertexai: {
    protocol: 'google-genai',
    keyVariable: 'VERTEXAI_API_KEY',
    baseUrlVariable: 'GOOGLE_VERTEX_BASE_URL',
  },
};

/** Returns the wire type of a stored `type`: `openai` if it is absent, undefined if it is unknown. */
export function wireTypeOf(type: string | undefined): WireType | undefined {
  return wireTypeSchema.safeParse(type ?? 'openai').data;
}

/** A variable from the provider's `env` table; undefined if blank or unset. */
export function tableText(table: Record<string, string> | undefined, name: string): string | undefined {
  return table && Object.hasOwn(table, name) ? envText(table, name) : undefined;
}
