/**
 * Fuzz target: a denied command, in any composition of wrappers and spellings, is denied or unreadable, never allowed;
 * a harmless command in the same composition is not denied.
 */
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { integer, pick, type Random } from '#support/random.ts';
import { openPolicy } from '#support/policy.ts';

/** A line under construction; a simple command can be passed as words to other programs. */
interface Line {
  text: string;
  simple: boolean;
}
type Step = (line: Line) => Line;

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
const quoted = (random: Random, text: string) => pick(random, [singleQuoted, doubleQuoted, ansiQuoted])(text);

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

function step(random: Random): Step {
  const kind = random();
  if (kind < 0.45) {
    const prefix = pick(random, PREFIXES);
    const action = pick(random, ['-exec', '-execdir', '-ok']);
    const isFind = random() < 0.06;
    return (line) => {
      if (!line.simple) return compound(`true; ${line.text}`);
      return isFind ? simple(`find . -type f ${action} ${line.text} \\;`) : simple(`${prefix} ${line.text}`);
    };
  }
  if (kind < 0.65) {
    const reader = pick(random, READERS);
    const quotes = random();
    const rest = reader.startsWith('trap') ? ' EXIT' : '';
    return ({ text }) => simple(`${reader} ${quoted(() => quotes, text)}${rest}`);
  }
  const quotes = random();
  if (kind < 0.68) {
    const start = pick(random, HERE_STRINGS);
    return ({ text }) => compound(`${start} ${quoted(() => quotes, text)}`);
  }
  if (kind < 0.73) {
    const keyword = pick(random, KEYWORDS);
    return ({ text, simple: isSimple }) => compound(isSimple ? `${keyword} ${text}` : `{ ${text}\n}`);
  }
  if (kind < 0.76) return ({ text }) => simple(`git -c ${singleQuoted(`alias.x=!${text}`)} x`);
  if (kind < 0.79) {
    const unreadable = pick(random, UNREADABLE);
    return ({ text }) => compound(unreadable(singleQuoted(text)));
  }
  const around = pick(random, AROUND);
  return ({ text }) => compound(around(text));
}

/** How often the harmless line is tried, too. */
const HARMLESS_SHARE = 0.25;

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

/** Builds the same line around a denied command and around a harmless one. */
export function randomLines(random: Random): { denied: string; harmless: string } {
  const spelling = pick(random, NAMES);
  const options = Array.from({ length: integer(random, 3) }, () => `${pick(random, GIT_OPTIONS)} `).join('');
  const [name, words, harmlessWords] = pick(random, [
    ['rm', '-rf x', undefined],
    ['git', `${options}push origin`, `${options}status`],
  ]);
  const steps = Array.from({ length: integer(random, 6) }, () => step(random));
  const build = (core: string) => steps.reduce((line, next) => next(line), simple(core)).text;
  return {
    denied: build(`${spelling(name)} ${words}`),
    harmless: build(harmlessWords === undefined ? `${spelling('ls')} -l x` : `${spelling(name)} ${harmlessWords}`),
  };
}

/** One case. Throws when a denied command is allowed, or a harmless one is denied. */
export async function denyLines(random: Random): Promise<void> {
  const { denied, harmless } = randomLines(random);
  if ((await verdict(denied)) === 'approve') throw new Error(`passed: ${JSON.stringify(denied)}`);
  if (random() < HARMLESS_SHARE && (await verdict(harmless)) === 'deny')
    throw new Error(`denied: ${JSON.stringify(harmless)}`);
}
