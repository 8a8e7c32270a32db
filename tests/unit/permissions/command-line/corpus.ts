/** Reads `corpus.txt`, whose format its header describes. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { textGlob } from '#server/files/globs.ts';
import type { CommandReading } from '#server/permissions/command-line/command-line-reader.ts';

type Verdict = 'allow' | 'ask' | 'deny';

interface RuleSet {
  name: string;
  /** Text patterns of Bash; an allow pattern `**` represents the bare tool name. */
  rules: { decision: Verdict; pattern: string }[];
}

interface CorpusCase {
  section: string;
  line: string;
  plain: boolean;
  unreadable: boolean;
  cd: string | undefined;
  commands: string[];
  /** Texts that deny and ask rules must match, in addition to the line and the commands of a plain one. */
  guarded: string[];
  verdicts: Record<string, string>;
}

const SIGNS: Record<string, string> = { '⏎': '\n', '␉': '\t', '␍': '\r' };
const decode = (text: string) =>
  text
    .replace(/[⏎␉␍]/g, (sign) => SIGNS[sign] ?? sign)
    .replace(/«U\+([0-9A-F]+)»/g, (_found, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));

export function readCorpus(): { ruleSets: RuleSet[]; cases: CorpusCase[] } {
  const ruleSets: RuleSet[] = [];
  const cases: CorpusCase[] = [];
  let section = '';
  for (const row of readFileSync(join(import.meta.dirname, 'corpus.txt'), 'utf8').split('\n')) {
    const latest = cases.at(-1);
    const [, rule, text = ''] = /^@ (\S+ (?:allow|ask|deny)) (.*)$/.exec(row) ?? [];
    if (rule !== undefined) {
      const [name = '', decision] = rule.split(' ');
      const known = ruleSets.find((set) => set.name === name) ?? { name, rules: [] };
      if (!ruleSets.includes(known)) ruleSets.push(known);
      known.rules.push({ decision: decision === 'allow' || decision === 'deny' ? decision : 'ask', pattern: text });
    } else if (row.startsWith('## ')) section = row.slice(3);
    else if (row.startsWith('$ ')) {
      const line = decode(row.slice(2));
      cases.push({
        section,
        line,
        plain: false,
        unreadable: false,
        cd: undefined,
        commands: [],
        guarded: [],
        verdicts: {},
      });
    } else if (latest && row.startsWith('    = ')) latest.commands.push(decode(row.slice(6)));
    else if (latest && row.startsWith('    ~ ')) latest.guarded.push(decode(row.slice(6)));
    else if (latest && row.startsWith('    : ')) {
      latest.verdicts = Object.fromEntries(
        row
          .slice(6)
          .split(', ')
          .map((part) => part.split(' ')),
      );
    } else if (latest && row.startsWith('    ')) {
      const words = row.trim().split(', ');
      latest.plain = words.includes('plain');
      latest.unreadable = words.includes('unreadable');
      latest.cd = words.find((word) => word.startsWith('cd '))?.slice(3);
    }
  }
  return { ruleSets, cases };
}

/** Relative directories without `..` are in the workspace, and so are those below /work/project; all others are not. */
const inWorkspace = (directory: string) =>
  directory.startsWith('/') ? directory.startsWith('/work/project/') : !directory.includes('..');

/** Decides a line like manual mode with rules only: deny, then unreadable and ask, then allow, else ask. */
export function decideLine({ rules }: RuleSet, line: string, reading: CommandReading): Verdict {
  const matching = (decision: Verdict, text: string) =>
    rules.some((rule) => rule.decision === decision && textGlob(rule.pattern)(text));
  const guards = rules.some(({ decision }) => decision !== 'allow');
  if (reading.guarded.some((text) => matching('deny', text))) return 'deny';
  if (guards && reading.unreadable) return 'ask';
  if (reading.guarded.some((text) => matching('ask', text))) return 'ask';
  if (rules.some(({ decision, pattern }) => decision === 'allow' && (pattern === '**' || pattern === line)))
    return 'allow';
  if (!reading.plain || (reading.cd !== undefined && !inWorkspace(reading.cd))) return 'ask';
  return reading.commands.every((command) => matching('allow', command)) ? 'allow' : 'ask';
}
