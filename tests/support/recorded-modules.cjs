// Preloaded into a server: each module that its main thread loads is a line of the file $LOADED_MODULES. What it would
// do some time after its start is never due.
const { appendFileSync } = require('node:fs');
const Module = require('node:module');
const { isMainThread } = require('node:worker_threads');

const HOOKS = `
import { appendFileSync } from 'node:fs';
let file;
export const initialize = (path) => void (file = path);
export function load(url, context, next) {
  appendFileSync(file, url + '\\n');
  return next(url, context);
}`;

const file = process.env.LOADED_MODULES;
if (isMainThread && file !== undefined) {
  Module.register(`data:text/javascript,${encodeURIComponent(HOOKS)}`, { data: file });
  const load = Module._load;
  Module._load = function (request, ...rest) {
    appendFileSync(file, `${request}\n`);
    return load.call(this, request, ...rest);
  };
  const { setTimeout: wait } = globalThis;
  globalThis.setTimeout = Object.assign(
    (callback, ms, ...rest) => wait(callback, ms >= 100 ? 2 ** 31 - 1 : ms, ...rest),
    wait,
  );
}
