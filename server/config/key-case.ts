/** Converts keys from file spelling (snake_case) to wire spelling (camelCase) and back, except keys that are names. */
import { isTable, tableOf } from './document.ts';

export const toCamel = (key: string): string =>
  key.includes('_') ? key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()) : key;
export const toSnake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `whole`: nested keys are not converted either. `path` begins with the section's file key, in either spelling. */
function verbatim(path: readonly string[]): 'keys' | 'whole' | undefined {
  const [section = '', , member = ''] = path;
  if (path.length === 1) return ['providers', 'models', 'experimental'].includes(section) ? 'keys' : undefined;
  if (section === 'secondary_model') return path.length === 2 && path[1] === 'models' ? 'keys' : undefined;
  if (section === 'providers' && member === 'source') return 'whole';
  const holdsRecords = section === 'providers' || section === 'models' || section === 'services';
  const name = path.at(-1) ?? '';
  if (holdsRecords && path.length >= 3 && ['custom_headers', 'customHeaders', 'env'].includes(name)) return 'keys';
  return undefined;
}

function convert(value: unknown, path: readonly string[], spell: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((entry) => convert(entry, path, spell));
  if (!isTable(value)) return value;
  const rule = verbatim(path);
  if (rule === 'whole') return value;
  return tableOf(
    Object.entries(value).map(([key, member]): [string, unknown] => [
      rule === 'keys' ? key : spell(key),
      convert(member, [...path, key], spell),
    ]),
  );
}

/** Converts the value of a section (`loop_control`) to wire spelling. */
export const sectionToWire = (section: string, value: unknown): unknown => convert(value, [section], toCamel);

/** Converts the value of a section to file spelling; accepts both, and of two spellings of a member the later wins. */
export const sectionToFile = (section: string, value: unknown): unknown => convert(value, [section], toSnake);

/** The path of a problem in file spelling: `models.acme/large.display_name`. */
export function filePath(section: string, path: readonly PropertyKey[]): string {
  const spelled: string[] = [section];
  const walked: string[] = [section];
  for (const step of path) {
    const key = String(step);
    const rule = verbatim(walked);
    spelled.push(rule === undefined ? toSnake(key) : key);
    // Array indexes are not part of the path in the table.
    if (typeof step !== 'number') walked.push(key);
    if (rule === 'whole') walked.push('');
  }
  return spelled.join('.');
}
