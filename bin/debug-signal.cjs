// Takes SIGUSR1, for which Node otherwise opens its debugger: without a token, to every user of the machine. It must be
// the first statement of a program, because the signal has its usual effect until then. The server logs the signal.
process.on('SIGUSR1', () => undefined);
