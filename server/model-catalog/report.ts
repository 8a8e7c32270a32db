/** Collects the results of a refresh: each provider is in one list, in the order of the file. */
import type { RefreshReport, RetiredDefault } from '#schema/rest/refresh.ts';
import type { ChangedProvider } from './change.ts';
import type { RegistryOutcome } from './registry-change.ts';

export interface Report {
  changed(provider: ChangedProvider): void;
  unchanged(id: string): void;
  failed(id: string, reason: string): void;
  add(outcome: RegistryOutcome): void;
  finish(): RefreshReport;
}

/** `ids`: the providers of the run, in the order of the file; others follow in the order of their results. */
export function createReport(ids: readonly string[]): Report {
  const changed = new Map<string, ChangedProvider>();
  const failed = new Map<string, string>();
  const seen = new Set(ids);
  let retired: RetiredDefault | undefined;

  const report: Report = {
    changed(provider) {
      seen.add(provider.provider_id);
      changed.set(provider.provider_id, provider);
    },
    unchanged: (id) => void seen.add(id),
    failed(id, reason) {
      seen.add(id);
      // The first reason is that of the provider's source.
      if (!failed.has(id)) failed.set(id, reason || 'unknown failure');
    },
    add(outcome) {
      for (const provider of outcome.changed) report.changed(provider);
      for (const id of outcome.unchanged) report.unchanged(id);
      for (const { provider, reason } of outcome.failed) report.failed(provider, reason);
      retired ??= outcome.retired;
    },
    finish() {
      const order = [...seen];
      return {
        changed: order.flatMap((id) => changed.get(id) ?? []),
        unchanged: order.filter((id) => !changed.has(id) && !failed.has(id)),
        failed: order.flatMap((id) => {
          const reason = changed.has(id) ? undefined : failed.get(id);
          return reason === undefined ? [] : [{ provider: id, reason }];
        }),
        ...(retired && { retired_default: retired }),
      };
    },
  };
  return report;
}
