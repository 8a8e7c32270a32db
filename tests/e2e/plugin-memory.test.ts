import { once } from 'node:events';
import { createServer } from 'node:http';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import { expect, it, onTestFinished } from 'vitest';
import { listenDuringTest } from '#support/listen-during-test.ts';
import { buildProgram, programFolder, startProgram } from '#support/programs.ts';
import { useTemporaryFolder } from '#support/session-logs.ts';

const folder = useTemporaryFolder();
const MIB = 1024 * 1024;

/** A stream of `size` bytes, in chunks. */
function bytes(size: number): Readable {
  const chunk = Buffer.alloc(MIB, 'some text ');
  let left = size;
  return new Readable({
    read() {
      const next = Math.min(left, chunk.length);
      left -= next;
      this.push(next > 0 ? chunk.subarray(0, next) : null);
    },
  });
}

/** An archive with files of these sizes, stored or deflated, as a stream. */
function archive(id: string, files: readonly { size: number; compress: boolean }[]): NodeJS.ReadableStream {
  const zip = new ZipFile();
  const manifest = Buffer.from(JSON.stringify({ name: id }));
  zip.addBuffer(manifest, 'service.plugin.json');
  // The manifest counts too.
  files.forEach(({ size, compress }, at) => {
    zip.addReadStreamLazy(`file-${at}`, { compress }, (give) =>
      give(null, bytes(at === 0 ? size - manifest.length : size)),
    );
  });
  zip.end();
  return zip.outputStream;
}

it('needs at most 64 MiB more for an archive of 512 MiB', async () => {
  const sizes = [
    { size: 256 * MIB, compress: true },
    { size: 256 * MIB, compress: false },
  ];
  const port = await listenDuringTest(
    createServer((request, response) => {
      const large = request.url === '/large';
      archive(large ? 'large' : 'small', large ? sizes : []).pipe(response);
    }),
  );
  const home = join(folder.path, 'home');
  await mkdir(home);
  // The HTTP client requires modules of its package by path.
  const programs = await programFolder();
  onTestFinished(() => rm(programs, { recursive: true }));
  const child = startProgram(await buildProgram('plugin-installer', programs), [home, 'one']);
  try {
    await once(child, 'message');
    const measured = async (path: string) => {
      child.send({ sources: [`http://127.0.0.1:${port}${path}`] });
      return String((await once(child, 'message'))[0]).split(' ');
    };
    // Loads the modules.
    expect(await measured('/small')).toEqual(['small', expect.any(String)]);
    const [id, growth] = await measured('/large');
    expect(id).toBe('large');
    expect(Number(growth)).toBeLessThanOrEqual(64 * MIB);
  } finally {
    child.kill('SIGKILL');
  }
});
