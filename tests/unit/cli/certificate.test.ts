/** The certificate of a server that runs for longer than it is valid. */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFile, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  keepCertificate,
  ownCertificateFiles,
  readCertificate,
  type CertificatePair,
} from '#server/cli/certificate.ts';
import { makeTestCertificate } from '#support/proxies.ts';
import { until } from '#support/patience.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const EVERY_MS = 20;
const DAY_MS = 24 * 60 * 60 * 1000;

/** A home with a certificate that ends in nine days. */
async function open() {
  const home = await temporaryHome();
  const files = ownCertificateFiles(home);
  const short = await makeTestCertificate(join(home, 'server/tls'), 'short');
  await copyFile(short.cert, files.cert);
  await copyFile(short.key, files.key);
  const applied: CertificatePair[] = [];
  const failures: string[] = [];
  const unusable: string[] = [];
  return {
    files,
    short,
    applied,
    failures,
    unusable,
    keep(https: { files: typeof files | undefined }) {
      const end = keepCertificate(
        files,
        { host: '127.0.0.1', https },
        {
          onChanged: (pair) => void applied.push(pair),
          onUnusable: (reason) => void unusable.push(reason),
          onNotRenewed: (reason) => void failures.push(reason),
        },
        EVERY_MS,
      );
      onTestFinished(end);
      return end;
    },
  };
}

it('is renewed while the server runs, before it ends, and applied', async () => {
  const { files, short, applied, keep } = await open();
  keep({ files: undefined });
  const old = await readFile(short.cert, 'utf8');
  const pair = await until(() => applied.find(({ cert }) => cert !== old));
  expect(Date.parse(new X509Certificate(pair.cert).validTo)).toBeGreaterThan(Date.now() + 300 * DAY_MS);
  expect((await readCertificate(files)).cert).toBe(pair.cert);
});

it('is not renewed when it is given by files', async () => {
  const { files, short, applied, failures, unusable, keep } = await open();
  keep({ files });
  // The watch has seen a change, so a renewal would have happened many times.
  const other = await makeTestCertificate(join(files.cert, '..'), 'other');
  await copyFile(other.key, files.key);
  await copyFile(other.cert, files.cert);
  const expected = await readFile(other.cert, 'utf8');
  await until(() => applied.some(({ cert }) => cert === expected));
  expect(await readFile(files.cert, 'utf8')).toBe(expected);
  expect(expected).not.toBe(await readFile(short.cert, 'utf8'));
  await writeFile(files.cert, 'nothing');
  await until(() => unusable.length > 0);
  expect(failures).toEqual([]);
});

it('is applied if another server replaced it before the watch began', async () => {
  const { files, applied, keep } = await open();
  const other = await makeTestCertificate(join(files.cert, '..'), 'other');
  await copyFile(other.key, files.key);
  await copyFile(other.cert, files.cert);
  keep({ files });
  const expected = await readFile(other.cert, 'utf8');
  await until(() => applied.some(({ cert }) => cert === expected));
});

it('is not reported when it was read while its files were being replaced', async () => {
  const { files, applied, unusable, keep } = await open();
  const other = await makeTestCertificate(join(files.cert, '..'), 'other');
  const oldKey = await readFile(files.key);
  await copyFile(other.cert, files.cert);
  await rm(files.key);
  // Waits for the first look, which reads the old key from it.
  execFileSync('mkfifo', [files.key]);
  keep({ files });
  await writeFile(files.key, oldKey);
  await rename(other.key, files.key);
  await until(() => applied.length > 0);
  expect(unusable).toEqual([]);
  await writeFile(files.cert, 'nothing');
  await until(() => unusable.length > 0);
});

it('that cannot be renewed is reported, and tried again', async () => {
  const { files, failures, keep } = await open();
  await writeFile(files.cert, 'nothing');
  keep({ files: undefined });
  await until(() => failures.length > 1);
  expect(failures[0]).toContain('contains no certificate');
});
