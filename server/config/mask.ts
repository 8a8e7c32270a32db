/** Masks secrets in everything that leaves through the config object. */
import { isTable } from './document.ts';

const MASK = '***';
const SECRET_ENDINGS = ['apikey', 'token', 'secret', 'password', 'authorization'];
const SECRET_TABLES = ['custom_headers', 'env', 'headers'];

/** Copies a domain in wire spelling, without `apiKey` and with header and variable values as `***`. */
export function maskDomain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(maskDomain);
  if (!isTable(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]): [string, unknown][] => {
      if (key === 'apiKey' || member === undefined) return [];
      if ((key === 'customHeaders' || key === 'env') && isTable(member)) {
        return [[key, Object.fromEntries(Object.keys(member).map((name) => [name, MASK]))]];
      }
      return [[key, maskDomain(member)]];
    }),
  );
}

/** Copies the parsed file as JSON: secrets masked at any depth, dates as RFC 3339 text. */
export function maskRaw(value: unknown, key = '', container = ''): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (value instanceof Date) return value.toISOString();
  // An array's entries are classified by the array's key.
  if (Array.isArray(value)) return value.map((entry: unknown) => maskRaw(entry, key, container));
  if (isTable(value)) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, maskRaw(member, name, key)]));
  }
  if (typeof value !== 'string' || value === '') return value;
  const plain = key.toLowerCase().replaceAll(/[_-]/g, '');
  const secret = SECRET_TABLES.includes(container) || SECRET_ENDINGS.some((ending) => plain.endsWith(ending));
  return secret ? MASK : value;
}
