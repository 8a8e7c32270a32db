/** The features of the page; a new one is added only here. */
import { promptBox } from '../composer/composer-keys.ts';
import { appearance } from '../shell/appearance.ts';
import { page } from '../shell/page-commands.ts';
import { account } from './account/index.ts';
import { approvals } from './approvals/index.ts';
import { conversation } from './conversation/index.ts';
import { cron } from './cron/index.ts';
import { displays } from './displays/index.ts';
import type { Feature } from './feature.ts';
import { files } from './files/index.ts';
import { goals } from './goals/index.ts';
import { mcp } from './mcp/index.ts';
import { mentions } from './mentions/index.ts';
import { planAndTasks } from './plan-and-tasks/index.ts';
import { planMode } from './plan-mode/index.ts';
import { plugins } from './plugins/index.ts';
import { projectTrust } from './project-trust/index.ts';
import { providers } from './providers/index.ts';
import { questions } from './questions/index.ts';
import { remoteControl } from './remote-control/index.ts';
import { sessionLinks } from './session-links/index.ts';
import { review } from './review/index.ts';
import { shell } from './shell/index.ts';
import { skills } from './skills/index.ts';
import { agentsPanel, subagents } from './subagents/index.ts';
import { swarm } from './swarm/index.ts';
import { tasks } from './tasks/index.ts';
import { terminals } from './terminals/index.ts';
import { titles } from './titles/index.ts';
import { todoList } from './todo-list/index.ts';
import { waiting } from './waiting/index.ts';
import { warnings } from './warnings/index.ts';
import { web } from './web/index.ts';
import { workspace } from './workspace/index.ts';

export const features: readonly Feature[] = [
  promptBox,
  waiting,
  page,
  appearance,
  conversation,
  subagents,
  approvals,
  questions,
  planMode,
  swarm,
  goals,
  cron,
  todoList,
  tasks,
  shell,
  files,
  web,
  displays,
  mentions,
  sessionLinks,
  skills,
  review,
  planAndTasks,
  agentsPanel,
  workspace,
  terminals,
  mcp,
  plugins,
  providers,
  account,
  remoteControl,
  titles,
  projectTrust,
  warnings,
];
