/** File spelling (snake_case) to wire spelling (camelCase) and back, keys that are names left alone. */
import { isTable, tableOf } from './document.ts';

export const toCamel = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
export const toSnake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** `whole`: nothing below is converted either. `path` begins with the section's file key and uses either spelling. */
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

/** The value of a section (`loop_control`) in wire spelling. */
export const sectionToWire = (section: string, value: unknown): unknown => convert(value, [section], toCamel);

/** The value of a section in file spelling; both spellings may come in, of two for one member the later one wins. */
export const sectionToFile = (section: string, value: unknown): unknown => convert(value, [section], toSnake);

/** Where a problem is, in file spelling: `models.acme/large.display_name`. */
export function filePath(section: string, path: readonly PropertyKey[]): string {
  const spelled: string[] = [section];
  const walked: string[] = [section];
  for (const step of path) {
    const key = String(step);
    const rule = verbatim(walked);
    spelled.push(rule === undefined ? toSnake(key) : key);
    // Indices of arrays are no step of a table.
    if (typeof step !== 'number') walked.push(key);
    if (rule === 'whole') walked.push('');
  }
  return spelled.join('.');
}
