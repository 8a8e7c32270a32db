/** Sections of the system prompt that plugins add. */
import type { EnabledPlugin } from '#server/plugins/installed-plugins.ts';
import type { SessionWarning } from '#schema/rest/session.ts';

/** UTF-8 bytes of the sections of all plugins; those that exceed it are dropped as a whole. */
export const SECTIONS_BYTES = 64 * 1024;

/** Joins the sections in the order of the installs. */
export function pluginSections(plugins: readonly Pick<EnabledPlugin, 'id' | 'manifest'>[]): {
  plugins: string;
  warnings?: SessionWarning[];
} {
  const kept: string[] = [];
  const dropped: string[] = [];
  let left = SECTIONS_BYTES;
  for (const { id, manifest } of plugins) {
    if (manifest.systemPrompt === undefined) continue;
    const section = `## ${id}\n${manifest.systemPrompt}`;
    const bytes = Buffer.byteLength(section);
    // After the first one that does not fit all later ones are dropped, so that a small one does not displace it.
    if (dropped.length > 0 || bytes > left) dropped.push(id);
    else {
      kept.push(section);
      left -= bytes;
    }
  }
  const text = kept.join('\n\n');
  if (dropped.length === 0) return { plugins: text };
  const message = `The system prompts of plugins exceed ${SECTIONS_BYTES / 1024} KiB; omitted: ${dropped.join(', ')}.`;
  return { plugins: text, warnings: [{ code: 'plugin-sections-oversized', message, severity: 'warning' }] };
}
