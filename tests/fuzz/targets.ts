/** All fuzz targets by name: properties that fail when the code is wrong. */
import type { IRawProperty } from 'fast-check';
import { acpLines } from './acp-lines.ts';
import { basePaths } from './base-paths.ts';
import { configMerge } from './config-merge.ts';
import { denyLines } from './deny-lines.ts';
import { forwardedHeaders } from './forwarded-headers.ts';
import { hosts } from './hosts.ts';
import { origins } from './origins.ts';
import { requestTarget } from './request-target.ts';
import { runInput } from './run-input.ts';
import { toolArguments } from './tool-arguments.ts';

export const fuzzTargets: Record<string, IRawProperty<unknown>> = {
  'request-target': requestTarget,
  'base-paths': basePaths,
  'forwarded-headers': forwardedHeaders,
  hosts,
  origins,
  'deny-lines': denyLines,
  'tool-arguments': toolArguments,
  'config-merge': configMerge,
  'run-input': runInput,
  'acp-lines': acpLines,
};
