// Starts Node's thread pool with 16 threads, unless UV_THREADPOOL_SIZE is set. With the usual 4, four calls to a file system
// that does not answer would block all access to files. To be required before any ES module is loaded: loading one starts
// the pool.
const { stat } = require('node:fs');

if (!process.env.UV_THREADPOOL_SIZE) {
  process.env.UV_THREADPOOL_SIZE = '16';
  // The first call starts all threads; programs that the server runs do not inherit the variable.
  stat(__filename, () => undefined);
  delete process.env.UV_THREADPOOL_SIZE;
}
