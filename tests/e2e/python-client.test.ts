/** The Python client against the built server, where python3 exists. */
import { execFile, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { useBuiltServer } from '#support/built-server.ts';

const FOLDER = resolve(import.meta.dirname, '../../clients/python');
const OLDEST = [3, 10];

/** Undefined without a Python that the client supports. */
function findPython(): string | undefined {
  const { stdout } = spawnSync('python3', ['-c', 'import sys; print(*sys.version_info[:2])'], { encoding: 'utf8' });
  const [major = 0, minor = 0] = (stdout ?? '').trim().split(' ').map(Number);
  return major > 3 || (major === 3 && minor >= (OLDEST[1] ?? 0)) ? 'python3' : undefined;
}

const python = findPython();
if (!python) process.stderr.write('NOT TESTED: the Python client, because there is no python3 of 3.10 or newer\n');

const built = useBuiltServer(undefined, { per: 'file' });

async function run(file: string, ...args: string[]): Promise<string> {
  const { url, token } = built.server;
  const { PATH, HOME } = process.env;
  const env = { PATH, HOME, PYTHONPATH: FOLDER, PYTHONDONTWRITEBYTECODE: '1', SERVICE_URL: url, SERVICE_TOKEN: token };
  const options = { cwd: built.base.project, env };
  return (await promisify(execFile)(python ?? '', [file, ...args], options)).stdout;
}

it.skipIf(!python)('sends a prompt and waits for the answer, as its example does', async () => {
  built.base.model.enqueue({ text: 'An answer for Python.' });
  expect(await run(join(FOLDER, 'example.py'), 'Hello')).toBe('An answer for Python.\n');
});

it.skipIf(!python)('raises errors, uploads, downloads parts, and has types that resolve', async () => {
  const program = join(built.base.root, 'program.py');
  await writeFile(join(built.base.project, 'data.json'), '{"code":0,"data":1}');
  const text = `
import io, os, typing
from service_code import ApiError, Client, types

client = Client(os.environ["SERVICE_URL"], os.environ["SERVICE_TOKEN"])
try:
    client.get_session("session_none")
except ApiError as error:
    print(error.code, error.request_id is not None, "session_none" in error.msg)
try:
    Client(os.environ["SERVICE_URL"], "wrong").get_meta()
except ApiError as error:
    print(error.code)
stored = client.post_files(io.BytesIO(b"0123456789"), 'a name.txt', {"expires_in_sec": "600"})
print(stored["size"], stored["name"])
with client.get_file(stored["id"]) as whole:
    print(whole.status, whole.read().decode())
with client.get_file(stored["id"], range=(2, 4)) as part:
    print(part.status, part.read().decode(), part.headers["content-range"])
session = client.post_sessions({"metadata": {"cwd": ${JSON.stringify(built.base.project)}}})
with client.get_session_fs_download(session["id"], "data.json") as whole:
    print(whole.headers.get_content_type(), whole.read().decode())
with client.get_session_fs_download(session["id"], "data.json", range=(1, 6)) as part:
    print(part.status, part.read().decode())
try:
    client.get_file("file_none")
except ApiError as error:
    print(error.code)
print(client.get_openapi_json()["openapi"])
print(client.get_sessions(page_size=1, include_archive=True)["has_more"])
for value in vars(types).values():
    if isinstance(value, type) and value.__module__ == types.__name__:
        typing.get_type_hints(value)
for name, value in vars(Client.__mro__[0]).items():
    if callable(value):
        typing.get_type_hints(value)
print("typed")
`;
  await writeFile(program, text);
  expect((await run(program)).trim().split('\n')).toEqual([
    '40401 True True',
    '40101',
    '10 a name.txt',
    '200 0123456789',
    '206 234 bytes 2-4/10',
    'application/json {"code":0,"data":1}',
    '206 "code"',
    '40407',
    '3.1.0',
    expect.stringMatching(/True|False/),
    'typed',
  ]);
});
