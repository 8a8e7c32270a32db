/** Zip archives for tests: valid ones by a library, hostile ones by hand. */
import { createServer, type RequestListener } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { crc32, deflateRawSync } from 'node:zlib';
import { ZipFile } from 'yazl';
import { listenDuringTest } from './listen-during-test.ts';

/** An archive of these files, by name. */
export function zipOf(
  files: Readonly<Record<string, string | Buffer>>,
  modes: Record<string, number> = {},
): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of Object.entries(files)) {
    zip.addBuffer(Buffer.from(content), name, { mode: modes[name] ?? 0o100644 });
  }
  zip.end();
  return buffer(zip.outputStream);
}

export interface RawEntry {
  name: string | Buffer;
  content?: string | Buffer;
  /** The size in the headers; default: that of the content. */
  declaredSize?: number;
  flags?: number;
  /** 0: stored; 8: deflated, the default. */
  method?: number;
  /** Mode of a Unix system. */
  mode?: number;
  crc?: number;
}

const u16 = (...values: number[]) => {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, at) => bytes.writeUInt16LE(value, 2 * at));
  return bytes;
};
const u32 = (...values: number[]) => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, at) => bytes.writeUInt32LE(value >>> 0, 4 * at));
  return bytes;
};

/** An archive with exactly these headers; names are UTF-8. */
export function rawZip(entries: readonly RawEntry[]): Buffer {
  const UTF8 = 0x800;
  const locals: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', method = 8, flags = 0, mode = 0o100644, declaredSize, crc } of entries) {
    const bytes = Buffer.from(content);
    const data = method === 8 ? deflateRawSync(bytes) : bytes;
    const nameBytes = Buffer.from(name);
    const common = Buffer.concat([
      u16(flags | UTF8, method, 0, 0x21),
      u32(crc ?? crc32(bytes), data.length, declaredSize ?? bytes.length),
      u16(nameBytes.length, 0),
    ]);
    locals.push(u32(0x04034b50), u16(20), common, nameBytes, data);
    central.push(
      Buffer.concat([
        u32(0x02014b50),
        u16((3 << 8) | 20, 20),
        common,
        u16(0, 0, 0),
        u32(mode << 16, offset),
        nameBytes,
      ]),
    );
    offset += 30 + nameBytes.length + data.length;
  }
  const directory = Buffer.concat(central);
  const end = [u32(0x06054b50), u16(0, 0, entries.length, entries.length), u32(directory.length, offset), u16(0)];
  return Buffer.concat([...locals, directory, ...end]);
}

/** Serves files by path until the test has finished; resolves to the address. A function answers itself. */
export async function serveDuringTest(
  files: Readonly<Record<string, Buffer | string | RequestListener>>,
): Promise<string> {
  const server = createServer((request, response) => {
    const file = files[request.url ?? ''];
    if (typeof file === 'function') file(request, response);
    else if (file === undefined) response.writeHead(404).end('not here');
    else response.writeHead(200, { 'content-type': 'application/zip' }).end(file);
  });
  return `http://127.0.0.1:${await listenDuringTest(server)}`;
}
