/**
 * Names of the entries of an archive. Names that some file system treats as the same, or as a path elsewhere, are
 * refused on all of them, so that an archive has one meaning.
 */

/** The limit of common file systems, in bytes of UTF-8. */
const MAX_SEGMENT_BYTES = 255;
const MAX_DEPTH = 100;
// eslint-disable-next-line no-control-regex
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Thrown for a name that is refused. */
export class RefusedName extends Error {
  override readonly name = 'RefusedName';
}

/** Equal for names that a file system may treat as equal. Upper case first, because `ß` has no single capital. */
const folded = (name: string): string => name.normalize('NFC').toUpperCase().toLowerCase().normalize('NFC');

interface Folder {
  name: string;
  /** Whether the archive has an entry for it; folders of its files need none. */
  listed: boolean;
  /** By folded name. */
  entries: Map<string, Folder | File>;
}
interface File {
  name: string;
  entries: undefined;
}

export interface AddedName {
  /** The path inside the archive, with `/`. */
  path: string;
  isFolder: boolean;
  /** Paths of the folders that are needed for it and were not added before, parents first. */
  newFolders: string[];
}

export interface EntryNames {
  /** Adds the name of an entry; a folder's ends in `/`. Throws `RefusedName`. */
  add(name: string): AddedName;
}

function checkSegment(segment: string): void {
  if (segment === '' || segment === '.' || segment === '..')
    throw new RefusedName('a name has a segment without a name');
  if (CONTROL.test(segment)) throw new RefusedName('a name has a control character');
  if (/[. ]$/.test(segment)) throw new RefusedName('a segment of a name ends in a dot or a space');
  if (Buffer.byteLength(segment) > MAX_SEGMENT_BYTES) throw new RefusedName('a segment of a name is too long');
}

/** Creates the set; it has at most `maxFolders` folders. */
export function createEntryNames(maxFolders: number): EntryNames {
  const root: Folder = { name: '', listed: true, entries: new Map() };
  let folders = 0;

  function addFolder(parent: Folder, name: string): Folder {
    folders += 1;
    if (folders > maxFolders) throw new RefusedName(`there are more than ${maxFolders} folders`);
    const folder: Folder = { name, listed: false, entries: new Map() };
    parent.entries.set(folded(name), folder);
    return folder;
  }

  /** The entry of that name; throws for one that is only spelled differently. */
  function find(parent: Folder, name: string): Folder | File | undefined {
    const found = parent.entries.get(folded(name));
    if (found && found.name !== name) throw new RefusedName('two names differ only in case or in Unicode form');
    return found;
  }

  return {
    add(entryName) {
      const isFolder = entryName.endsWith('/');
      const path = isFolder ? entryName.slice(0, -1) : entryName;
      const segments = path.split('/');
      if (segments.length > MAX_DEPTH) throw new RefusedName('a name has too many segments');
      segments.forEach(checkSegment);

      const newFolders: string[] = [];
      let at = root;
      for (const [index, segment] of segments.entries()) {
        const found = find(at, segment);
        const isLast = index === segments.length - 1;
        if (isLast && !isFolder) {
          if (found)
            throw new RefusedName(found.entries ? 'a file has the name of a folder' : 'two entries have one name');
          at.entries.set(folded(segment), { name: segment, entries: undefined });
          break;
        }
        if (found && !found.entries) throw new RefusedName('a file has the name of a folder');
        if (!found) newFolders.push(segments.slice(0, index + 1).join('/'));
        at = found ?? addFolder(at, segment);
        if (isLast && at.listed) throw new RefusedName('two entries have one name');
        if (isLast) at.listed = true;
      }
      return { path, isFolder, newFolders };
    },
  };
}
