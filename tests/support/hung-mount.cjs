/**
 * Preloaded into a server: simulates a mount that does not answer. Each call with a path at or below HUNG_PATH (only
 * calls of HUNG_FUNCTION, if set) blocks its thread, as the system would, until the pipe HUNG_PIPE is opened for
 * writing; then it continues. Each blocked call appends a character to `<HUNG_PIPE>.calls`.
 */
const fs = require('node:fs');

const { HUNG_PATH, HUNG_PIPE, HUNG_FUNCTION } = process.env;
const { appendFileSync, openSync, closeSync, readlinkSync } = fs;
const { open } = fs.promises;

/** Resolves the path of a call; the server names an opened directory by its descriptor. */
function resolved(path) {
  const [, descriptor, rest] = /^(\/proc\/self\/fd\/\d+)(.*)$/.exec(path) ?? [];
  if (descriptor === undefined) return path;
  try {
    return readlinkSync(descriptor) + rest;
  } catch {
    return path;
  }
}

function hangs(name, path) {
  if (typeof path !== 'string' || (HUNG_FUNCTION && HUNG_FUNCTION !== name)) return false;
  const at = resolved(path);
  return at === HUNG_PATH || at.startsWith(`${HUNG_PATH}/`);
}

const count = () => appendFileSync(`${HUNG_PIPE}.calls`, '.');

async function wait() {
  count();
  await (await open(HUNG_PIPE, 'r')).close();
}

function waitSync() {
  count();
  closeSync(openSync(HUNG_PIPE, 'r'));
}

for (const name of ['access', 'lstat', 'open', 'opendir', 'readdir', 'readFile', 'readlink', 'realpath', 'stat']) {
  const original = fs.promises[name];
  fs.promises[name] = async (path, ...rest) => {
    if (hangs(name, path)) await wait();
    return original(path, ...rest);
  };
}
for (const name of ['lstat', 'stat']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (!hangs(name, path)) return original(path, ...rest);
    void wait().then(() => original(path, ...rest));
  };
}
for (const name of ['existsSync', 'lstatSync', 'openSync', 'opendirSync', 'readdirSync', 'readFileSync', 'statSync']) {
  const original = fs[name];
  fs[name] = (path, ...rest) => {
    if (hangs(name, path)) waitSync();
    return original(path, ...rest);
  };
}
