/** The English texts of the page, by key. A text with parameters is a function of them; it returns plain text. */
import { tools } from './en/tools.ts';
import { goals } from './en/goals.ts';
import { skills } from './en/skills.ts';
import { swarm } from './en/swarm.ts';
import { time } from './en/time.ts';
import { caller } from './en/caller.ts';
import { appearance } from './en/appearance.ts';
import { account } from './en/account.ts';
import { agents } from './en/agents.ts';
import { approvals } from './en/approvals.ts';
import { common } from './en/common.ts';
import { composer } from './en/composer.ts';
import { conversation } from './en/conversation.ts';
import { drafts } from './en/drafts.ts';
import { errors } from './en/errors.ts';
import { files } from './en/files.ts';
import { list } from './en/list.ts';
import { mcp } from './en/mcp.ts';
import { palette } from './en/palette.ts';
import { plans } from './en/plans.ts';
import { plugins } from './en/plugins.ts';
import { providers } from './en/providers.ts';
import { questions } from './en/questions.ts';
import { remote } from './en/remote.ts';
import { review } from './en/review.ts';
import { shell } from './en/shell.ts';
import { start } from './en/start.ts';
import { tasks } from './en/tasks.ts';
import { terminals } from './en/terminals.ts';
import { titles } from './en/titles.ts';
import { token } from './en/token.ts';
import { trust } from './en/trust.ts';
import { ui } from './en/ui.ts';
import { waiting } from './en/waiting.ts';
import { warnings } from './en/warnings.ts';

export const en = {
  ...appearance,
  ...caller,
  ...time,
  ...swarm,
  ...skills,
  ...goals,
  ...tools,
  ...account,
  ...agents,
  ...approvals,
  ...common,
  ...composer,
  ...conversation,
  ...drafts,
  ...errors,
  ...files,
  ...list,
  ...mcp,
  ...palette,
  ...plans,
  ...plugins,
  ...providers,
  ...questions,
  ...remote,
  ...review,
  ...shell,
  ...start,
  ...tasks,
  ...terminals,
  ...titles,
  ...token,
  ...trust,
  ...ui,
  ...waiting,
  ...warnings,
};
