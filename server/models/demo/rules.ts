/**
 * Rules of the demo model: pure functions of the last prompt and the tool results since then, without state. Its texts
 * state that it is not a real model.
 */

export interface DemoCall {
  name: string;
  args: Record<string, unknown>;
}

/** One response: reasoning, text and calls, or an error. */
export interface DemoAnswer {
  think?: string;
  text?: string;
  calls?: DemoCall[];
  error?: string;
  /** Pause between two chunks, in milliseconds. */
  paceMs?: number;
}

export interface DemoInput {
  /** The user's last prompt. */
  prompt: string;
  /** All prompts, oldest first. */
  prompts: string[];
  /** Results of the tools called for this prompt so far, in order. */
  results: { name: string; output: string }[];
  /** Names of the tools that the request offers. */
  tools: ReadonlySet<string>;
}

const TOUR_FILE = 'demo-tour.txt';
const MAX_COUNT = 2000;
const COUNT_PACE_MS = 40;
const QUOTED_LINES = 12;
const SUMMARY_PROMPTS = 20;
const SUMMARY_CHARS = 200;

const HELP = `I am the **demo model**: a short list of rules that runs inside this server, not a real model. I do not understand language; I look for a few words:

- \`read README.md\`: reads a file
- \`list files\` or \`list src/**/*.ts\`: finds files by name
- \`search for TODO\`: searches their contents
- \`write notes.txt: some text\`: writes a file (this asks for your approval)
- \`edit notes.txt: old -> new\`: changes one (so does this)
- \`run git status\`: runs a command (and this)
- \`tour\`: all of these, one after the other
- \`count to 100\`: a long answer, to try out stopping it
- \`error\`: a failing request

To work with a real model, add a provider in the settings, or in \`config.toml\`:

\`\`\`toml
default_model = "my/model"

[providers.my]
type = "openai"
base_url = "https://models.example.com/v1"
api_key = "…"

[models."my/model"]
provider = "my"
model = "model-name"
max_context_size = 131072
\`\`\`
`;

const SUMMARY_REQUEST = /^Write a summary of the conversation so far\./;

interface Rule {
  pattern: RegExp;
  /** Whether the match may continue after a blank line. */
  spansParagraphs?: boolean;
  answer(match: RegExpExecArray, input: DemoInput): DemoAnswer;
}

/** The first matching pattern applies. */
const RULES: Rule[] = [
  // The compaction of the server sends this prompt.
  { pattern: SUMMARY_REQUEST, answer: (_, input) => summary(input) },
  { pattern: /^tour\b/i, answer: (_, input) => tour(input) },
  { pattern: /^(?:an? )?error\b/i, answer: () => ({ error: 'The demo model was asked to fail, and does.' }) },
  { pattern: /^count(?: to)? (\d+)/i, answer: ([, n]) => count(Number(n)) },
  {
    pattern: /^(?:read|show|open|cat)\s+(?:the )?(?:file )?(\S+)/i,
    answer: ([, path = ''], input) =>
      single(input, 'Read', { path: unquote(path) }, `I am going to read \`${unquote(path)}\`.`),
  },
  {
    pattern: /^(?:list|find)\s+(?:all |the )?(?:files|(\S+))/i,
    answer: ([, pattern = '**/*'], input) =>
      single(
        input,
        'Glob',
        { pattern: unquote(pattern) },
        `I am looking for files that match \`${unquote(pattern)}\`.`,
      ),
  },
  {
    pattern: /^(?:search|grep)\s+(?:for )?(.+)/i,
    answer: ([, pattern = ''], input) =>
      single(
        input,
        'Grep',
        { pattern: unquote(pattern), output_mode: 'content', head_limit: 20 },
        `I am searching for \`${unquote(pattern)}\`.`,
      ),
  },
  {
    spansParagraphs: true,
    pattern: /^(?:write|create)\s+(?:a |the )?(?:file )?([^\s:]+)(?:\s*:\s*|\s+)?([\s\S]*)/i,
    answer: ([, path = '', content = ''], input) =>
      single(
        input,
        'Write',
        { path: unquote(path), content: content || 'Written by the demo model.\n' },
        `I am going to write \`${unquote(path)}\`.`,
      ),
  },
  {
    pattern: /^edit\s+([^\s:]+)\s*:\s*(.+?)\s*->\s*(.*)/i,
    answer: ([, path = '', before = '', after = ''], input) => edit(input, unquote(path), before, after),
  },
  {
    spansParagraphs: true,
    pattern: /^(?:run|exec|execute|bash|\$)\s+([\s\S]+)/i,
    answer: ([, command = ''], input) =>
      single(
        input,
        'Bash',
        { command: unquote(command), description: 'Run the command you asked for' },
        `I am going to run \`${unquote(command)}\`.`,
      ),
  },
];

/** A real model would summarize; the demo model repeats the prompts. */
function summary({ prompts }: DemoInput): DemoAnswer {
  const asked = prompts.slice(0, -1).slice(-SUMMARY_PROMPTS);
  const lines = asked.map((prompt) => `- ${prompt.trim().split('\n', 1).join('').slice(0, SUMMARY_CHARS)}`);
  return {
    think: 'The conversation is to be summarized.',
    text: `## Task\nThe user tries out the demo model, which is a list of rules and cannot summarize. These were the last prompts:\n${lines.join('\n')}`,
  };
}

/** Offsets of the paragraphs, not counting code blocks, which belong to the paragraph before them. */
function paragraphsOf(text: string): number[] {
  const starts = [0];
  let at = 0;
  let isAfterBlank = false;
  let isInFence = false;
  for (const line of text.split('\n')) {
    const isFence = line.startsWith('```');
    if (isAfterBlank && line !== '' && !isFence && !isInFence) starts.push(at);
    if (isFence) isInFence = !isInFence;
    isAfterBlank = line === '';
    at += line.length + 1;
  }
  return starts;
}

const ruleOf = (prompt: string) => RULES.find(({ pattern }) => pattern.test(prompt));

/** Prompts without an answer between them, as after a failed turn, arrive as one text with blank lines: the last one is due. */
function lastPrompt(text: string): string {
  if (SUMMARY_REQUEST.test(text)) return text;
  const prompts = paragraphsOf(text).map((start) => text.slice(start));
  const known = prompts.findLast((prompt) => ruleOf(prompt));
  return (known !== undefined && ruleOf(known)?.spansParagraphs ? known : prompts.at(-1)) ?? text;
}

/** Returns the response to a request; deterministic. */
export function demoAnswer(input: DemoInput): DemoAnswer {
  const prompt = lastPrompt(input.prompt.trim());
  for (const { pattern, answer } of RULES) {
    const match = pattern.exec(prompt);
    if (match) return answer(match, input);
  }
  return { think: 'No rule matches this prompt, so I explain what I can do.', text: HELP };
}

/** One call, then a report of its result. */
function single(input: DemoInput, name: string, args: Record<string, unknown>, text: string): DemoAnswer {
  const [result] = input.results;
  if (result) return report(result);
  if (!input.tools.has(name))
    return { text: `I would call the tool ${name} now, but it is not available in this session.` };
  return { think: `The prompt asks for the tool ${name}.`, text, calls: [{ name, args }] };
}

/** The Edit tool requires that the file was read before. */
function edit(input: DemoInput, path: string, before: string, after: string): DemoAnswer {
  const last = input.results.at(-1);
  if (!last) return single(input, 'Read', { path }, `First I read \`${path}\`.`);
  if (last.name !== 'Read' || failed(last.output)) return report(last);
  return {
    text: 'Now I change it.',
    calls: [{ name: 'Edit', args: { path, old_string: before, new_string: after } }],
  };
}

interface Stop {
  text: string;
  call: DemoCall | ((results: DemoInput['results']) => DemoCall);
  /** Tools other than that of the call which have to be available. */
  needs?: string;
}

const todos = (done: number) => ({
  todos: ['Look around', 'Write and change a file', 'Plan, delegate and run commands'].map((title, index) => ({
    title,
    status: index < done ? 'done' : index === done ? 'in_progress' : 'pending',
  })),
});

const PLAN = `# Plan of the tour

1. A subagent lists the files.
2. A command runs in the background.
3. A last command removes the file of the tour.
`;

/** The path that the result of EnterPlanMode names. */
const planPath = (results: DemoInput['results']): string =>
  /Write the plan to (.+?)\.?\s*$/m.exec(results.findLast(({ name }) => name === 'EnterPlanMode')?.output ?? '')?.[1] ??
  TOUR_FILE;

const TOUR: Stop[] = [
  {
    text: 'Welcome. I am a scripted demo, not a real model; what you see of the tools is real. First I note down what I am going to do.',
    call: { name: 'TodoList', args: todos(0) },
  },
  {
    text: 'I look around, which needs no approval.',
    call: { name: 'Glob', args: { pattern: '*' } },
  },
  {
    text: 'I have a question, so that you can try out how to answer one. Any answer is right.',
    call: {
      name: 'AskUserQuestion',
      args: {
        questions: [
          {
            question: 'How do you like the tour so far?',
            header: 'Tour',
            options: [
              { label: 'It is fine', description: 'I continue in the same way.' },
              { label: 'It is long', description: 'I continue in the same way, too: I am only a script.' },
            ],
          },
        ],
      },
    },
  },
  {
    text: 'Next I write a small file. Depending on the permission mode you are asked first.',
    call: { name: 'Write', args: { path: TOUR_FILE, content: 'one\ntwo\nthree\n' } },
  },
  { text: 'I read it back.', call: { name: 'Read', args: { path: TOUR_FILE } } },
  {
    text: 'I change a line of it.',
    call: { name: 'Edit', args: { path: TOUR_FILE, old_string: 'two', new_string: '2' } },
  },
  {
    text: 'I search for what I wrote.',
    call: { name: 'Grep', args: { pattern: 'three', path: '.', output_mode: 'content' } },
  },
  { text: 'The second part is done.', call: { name: 'TodoList', args: todos(2) } },
  {
    text: 'For larger work I would plan first. In plan mode I change nothing but the plan.',
    call: { name: 'EnterPlanMode', args: {} },
  },
  {
    text: 'I write the plan into its file.',
    needs: 'EnterPlanMode',
    call: (results) => ({ name: 'Write', args: { path: planPath(results), content: PLAN } }),
  },
  {
    text: 'Here is the plan for your review. Approve it to see the rest of the tour.',
    call: { name: 'ExitPlanMode', args: {} },
  },
  {
    text: 'A subagent has a conversation of its own; it is the demo model, too.',
    call: { name: 'Agent', args: { description: 'List the files', prompt: 'list files', subagent_type: 'explore' } },
  },
  {
    text: 'This command runs in the background while I continue; you can watch and stop it.',
    needs: 'TaskOutput',
    call: {
      name: 'Bash',
      args: {
        command: 'for i in $(seq 1 20); do echo "tick $i"; sleep 1; done',
        description: 'Count to 20 in the background',
        run_in_background: true,
      },
    },
  },
  {
    text: 'Last, a command, whose output streams while it runs. It also removes the file again.',
    call: {
      name: 'Bash',
      args: {
        command: `for i in 1 2 3; do echo "line $i"; sleep 0.2; done; rm -f ${TOUR_FILE}`,
        description: 'Print three lines and remove the tour file',
      },
    },
  },
  { text: 'All of the list is done.', call: { name: 'TodoList', args: todos(3) } },
];

const callOf = ({ call }: Stop, results: DemoInput['results']): DemoCall =>
  typeof call === 'function' ? call(results) : call;

function tour({ tools, results }: DemoInput): DemoAnswer {
  const stops = TOUR.filter((stop) => {
    const { needs } = stop;
    return tools.has(callOf(stop, results).name) && (needs === undefined || tools.has(needs));
  });
  const last = results.at(-1);
  const next = stops[results.length];
  const refused = last && failed(last.output) ? 'That call did not succeed, and I go on without it. ' : '';
  if (!next) {
    return { text: `${refused}That was the tour: reasoning, text, and every core tool. Now try it with a real model.` };
  }
  const call = callOf(next, results);
  return {
    think: `Stop ${results.length + 1} of the tour: the tool ${call.name}.`,
    text: refused + next.text,
    calls: [call],
  };
}

function report({ name, output }: { name: string; output: string }): DemoAnswer {
  if (failed(output)) return { text: `The tool ${name} did not succeed:\n\n${quote(output)}` };
  return {
    text: `The tool ${name} answered:\n\n${quote(output)}\n\nA real model would make something of this; I only show it.`,
  };
}

function count(n: number): DemoAnswer {
  const numbers = Array.from({ length: Math.min(n, MAX_COUNT) }, (_, i) => i + 1);
  return { text: numbers.join(' '), paceMs: COUNT_PACE_MS };
}

/** Failed calls are marked in the first line of the rendered result. */
function failed(output: string): boolean {
  return output.startsWith('<system>ERROR');
}

/** The first lines as a code block whose fence is longer than any inside it. */
function quote(output: string): string {
  const lines = output.trim().split('\n');
  const shown = lines.slice(0, QUOTED_LINES).join('\n');
  const fence = '`'.repeat(Math.max(3, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const more = lines.length > QUOTED_LINES ? `\n… ${lines.length - QUOTED_LINES} more lines` : '';
  return `${fence}\n${shown}${more}\n${fence}`;
}

function unquote(text: string): string {
  return text.trim().replace(/^(["'`])(.*)\1$/s, '$2');
}
