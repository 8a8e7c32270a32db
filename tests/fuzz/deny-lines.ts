/**
 * Fuzz target: a denied command, in any composition of wrappers and spellings, is denied or unreadable, never allowed;
 * a harmless command in the same composition is not denied.
 */
import { notStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { Arbitrary } from 'fast-check';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import type { Edit } from '#support/arbitraries.ts';
import { openPolicy } from '#support/policy.ts';

/** A line under construction; a simple command can be passed as words to other programs. */
interface Line {
  text: string;
  simple: boolean;
}

const simple = (text: string): Line => ({ text, simple: true });
const compound = (text: string): Line => ({ text, simple: false });

/** Programs that run a command given as words. */
const PREFIXES = [
  'sudo',
  'sudo -u bob',
  'sudo -nE --',
  'doas -u bob',
  'env',
  'env -',
  'env -i A=1',
  'env -u A -C / --',
  'command --',
  'sudo A=1 --',
  'xargs -0 -a f',
  'nice --adjustment=5',
  'timeout 5',
  'timeout -k 5 --signal=KILL 10s',
  'nice -n 5',
  'nice -10',
  'ionice -c 2 -n 7',
  'xargs -n 1',
  'xargs -I{}',
  'stdbuf -oL',
  'command',
  'command -p',
  'builtin',
  'exec',
  'exec -a name',
  'nohup',
  'setsid -w',
  'busybox',
  'flock f',
  'flock -n -w 5 f',
  'unshare -rn',
  'unshare --map-root-user --mount',
  'taskset 3',
  'taskset -c 0-3',
  'chrt -f 10',
  'prlimit --nofile=10',
  'prlimit -n10',
  'strace -f -e trace=open -o out',
  'ltrace -n 2',
  'setpriv --reuid 1000 --clear-groups',
  'nsenter -t 1 -m --',
  'chroot /',
  'chroot --userspec=a:b /',
  'runuser -u bob --',
  'parallel -j4',
  'unbuffer',
  'caffeinate -t 10',
  'script -q /dev/null',
  '>log',
  '2>/dev/null',
];

/** Shell syntax before a command, which no program can run as words. */
const KEYWORDS = ['X=1', 'A[0]=x B+=y', 'CI= >log', 'time -p', '!', 'coproc'];

/** Programs that run a line given as one word. */
const READERS = [
  'sh -c',
  'bash -lc',
  'bash --norc -eo pipefail -c',
  '/bin/dash -c --',
  'zsh -c',
  'eval',
  'eval --',
  'su -c',
  'su - bob -c',
  'su bob --command',
  'runuser bob -c',
  'flock f -c',
  'flock -c',
  'script -qc',
  'watch',
  'watch -n 1 -d',
  'parallel',
  'trap',
  'trap --',
  'mapfile -C',
  'readarray -tC',
];

const NAMES: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `/usr/bin/${name}`,
  (name) => `./${name}`,
  (name) => `"${name}"`,
  (name) => `'${name}'`,
  (name) => `\\${name}`,
  (name) => `${name[0]}"${name.slice(1)}"`,
  (name) => `${name[0]}''${name.slice(1)}`,
  (name) => `${name[0]}\\\n${name.slice(1)}`,
  (name) => `$'${name}'`,
  (name) => `$'\\x${name.charCodeAt(0).toString(16)}${name.slice(1)}'`,
  (name) => `$"${name}"`,
];

/** Git options before the command's name. */
const GIT_OPTIONS = ['-C .', '-c a.b=c', '--no-pager', '--git-dir=.git', '--work-tree .', '-P', "-c user.name='a b'"];

const singleQuoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const doubleQuoted = (text: string) => `"${text.replace(/[\\"$`]/g, '\\$&')}"`;
const ansiQuoted = (text: string) =>
  `$'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;
const quotes = fc.constantFrom(singleQuoted, doubleQuoted, ansiQuoted);

/** Shells that read a line from stdin, which `xargs` would read itself. */
const HERE_STRINGS = ['bash <<<', 'sudo sh -s <<<', 'env - bash -x <<<'];

/** Contexts of a line. A here-document ends with its own line, so further text starts on a new one. */
const AROUND: readonly ((text: string) => string)[] = [
  (text) => `true; ${text}`,
  (text) => `${text}\ntrue`,
  (text) => `true &&${text}`,
  (text) => `false || ${text}`,
  (text) => `cat a | ${text}`,
  (text) => `${text}\n`,
  (text) => `(${text}\n)`,
  (text) => `{ ${text}\n}`,
  (text) => `if true; then ${text}\nfi`,
  (text) => `while ${text}\ndo break; done`,
  (text) => `for a in b; do ${text}\ndone`,
  (text) => `until ${text}\ndo :; done`,
  (text) => `function f { ${text}\n}; f`,
  (text) => `[[ a ]] && ${text}`,
  (text) => `((1)) && ${text}`,
  (text) => `time { ${text}\n}`,
  (text) => `coproc { ${text}\n}`,
  (text) => `x=$(${text}\n)`,
  (text) => `a=(b $(${text}\n))`,
  (text) => `echo "\${x:-$(${text}\n)}"`,
  (text) => `exec 3< <(${text}\n)`,
  (text) => `cat <<E\n$(${text}\n)\nE`,
  (text) => (/[`\\]/.test(text) ? `(${text}\n)` : `echo \`${text}\n\``),
  (text) => `case a in a) ${text}\n;; esac`,
  (text) => `f() { ${text}\n}; f`,
  (text) => `echo $(${text}\n)`,
  (text) => `echo "$(${text}\n)"`,
  (text) => `cat <(${text}\n)`,
  (text) => `# it's a comment\n${text}`,
  (text) => `echo 'a'"b"; ${text}`,
  (text) => `bash <<'E'\n${text}\nE`,
  (text) => `sudo sh -s a <<E\n${text}\nE`,
  (text) => `sh <<-E\n\t${text}\n\tE`,
];

/** Lines that another command outputs, so that the policy cannot read them. */
const UNREADABLE: readonly ((word: string) => string)[] = [
  (word) => `echo ${word} | sh`,
  (word) => `printf %s ${word} |& sudo bash -s`,
  (word) => `echo ${word} | { bash; }`,
  (word) => `. <(echo ${word})`,
  (word) => `bash <(echo ${word})`,
  (word) => `sh < <(echo ${word})`,
];

const prefixed =
  (prefix: string, rest = '') =>
  ({ text, simple: isSimple }: Line): Line =>
    isSimple ? simple(`${prefix} ${text}${rest}`) : compound(`true; ${text}`);
const prefixes = fc.constantFrom(...PREFIXES).map((prefix) => prefixed(prefix));
const finds = fc.constantFrom('exec', 'execdir', 'ok').map((action) => prefixed(`find . -type f -${action}`, ' \\;'));
const readers = fc.tuple(fc.constantFrom(...READERS), quotes).map(
  ([reader, quote]) =>
    ({ text }: Line) =>
      simple(`${reader} ${quote(text)}${reader.startsWith('trap') ? ' EXIT' : ''}`),
);
const hereStrings = fc.tuple(fc.constantFrom(...HERE_STRINGS), quotes).map(
  ([start, quote]) =>
    ({ text }: Line) =>
      compound(`${start} ${quote(text)}`),
);
const keywords = fc.constantFrom(...KEYWORDS).map(
  (keyword) =>
    ({ text, simple: isSimple }: Line) =>
      compound(isSimple ? `${keyword} ${text}` : `{ ${text}\n}`),
);
const alias = fc.constant(({ text }: Line) => simple(`git -c ${singleQuoted(`alias.x=!${text}`)} x`));
const unreadable = fc.constantFrom(...UNREADABLE).map(
  (run) =>
    ({ text }: Line) =>
      compound(run(singleQuoted(text))),
);
const around = fc.constantFrom(...AROUND).map(
  (surround) =>
    ({ text }: Line) =>
      compound(surround(text)),
);

const steps: Arbitrary<Edit<Line>> = fc.oneof(
  { weight: 42, arbitrary: prefixes },
  { weight: 3, arbitrary: finds },
  { weight: 20, arbitrary: readers },
  { weight: 3, arbitrary: hereStrings },
  { weight: 5, arbitrary: keywords },
  { weight: 3, arbitrary: alias },
  { weight: 3, arbitrary: unreadable },
  { weight: 21, arbitrary: around },
);

/** Name and words of a denied command, and of a harmless one. */
const COMMANDS = [['rm', '-rf x', 'ls', '-l x'] as const, ['git', 'push origin', 'git', 'status'] as const];
const gitOptions = fc.array(fc.constantFrom(...GIT_OPTIONS), { maxLength: 2 });

/** The same line around a denied command and around a harmless one. */
export const linePairs = fc
  .tuple(fc.constantFrom(...COMMANDS), fc.constantFrom(...NAMES), gitOptions, fc.array(steps, { maxLength: 5 }))
  .map(([[denied, words, harmless, harmlessWords], spelled, options, list]) => {
    const build = (name: string, rest: string) => {
      const command = [spelled(name), ...(name === 'git' ? options : []), rest].join(' ');
      return list.reduce((line, step) => step(line), simple(command)).text;
    };
    return { denied: build(denied, words), harmless: build(harmless, harmlessWords) };
  });

const DENIED = ['rm *', 'git push*'];
const place = '/work/project';
const policy = openPolicy({ repositoryOf: async () => undefined });
const places = {
  runtime: createLocalRuntime(),
  cwd: place,
  additionalDirs: async () => [],
  readableDirs: () => Promise.resolve([]),
  sessionDir: '/home/sessions/a/b',
  home: createServerHome('/home'),
};
const rules = DENIED.map((text) => ({ decision: 'deny' as const, pattern: `Bash(${text})`, scope: 'user' as const }));

async function verdict(text: string): Promise<'approve' | 'ask' | 'deny'> {
  const { kind } = await policy.decide(
    {
      toolName: 'Bash',
      agentId: 'main',
      permission: 'ask',
      effects: 'any',
      subject: { text, match: 'command', directory: place },
      accesses: [{ kind: 'all' }],
    },
    { mode: 'yolo', rules, remembered: [], places },
  );
  return kind;
}

/** The harmless line is tried in a quarter of the cases. */
const triesHarmless = fc.nat(3).map((number) => number === 3);

/** Fails when a denied command is allowed, or a harmless one is denied. */
export const denyLines = fc.asyncProperty(linePairs, triesHarmless, async ({ denied, harmless }, isTried) => {
  notStrictEqual(await verdict(denied), 'approve', denied);
  if (isTried) notStrictEqual(await verdict(harmless), 'deny', harmless);
});
