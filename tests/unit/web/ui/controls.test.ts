import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const web = new URL('../../../../web/', import.meta.url);

/** The components outside `ui/`, with their templates and styles. */
const components = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.vue') && !/^(ui|stories|dist)\//.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }));

const pathsOf = (matches: (text: string) => boolean, except: readonly string[] = []) =>
  components.filter(({ path, text }) => !except.includes(path) && matches(text)).map(({ path }) => path);

/** Components that are not converted to the parts of `ui/` yet: the lists only get shorter. */
const WITH_NATIVE_CONTROLS: readonly string[] = [
  'composer/PromptField.vue',
  'conversation/FoldingCard.vue',
  'conversation/PromptOutline.vue',
  'conversation/ReadingGroup.vue',
  'conversation/WorkLine.vue',
  'features/approvals/FeedbackForm.vue',
  'features/files/HitsBody.vue',
  'features/goals/GoalStrip.vue',
  'features/questions/QuestionItem.vue',
  'features/swarm/SwarmBody.vue',
  'features/tasks/TaskRow.vue',
  'palette/PagePalette.vue',
  'shell/SessionListRow.vue',
];
const WITH_STYLED_CONTROLS: readonly string[] = [
  'composer/PromptField.vue',
  'composer/RequestCard.vue',
  'conversation/PromptOutline.vue',
  'conversation/WorkLine.vue',
  'features/approvals/FeedbackForm.vue',
  'features/plan-mode/PlanReviewCard.vue',
  'features/questions/QuestionItem.vue',
  'palette/PagePalette.vue',
  'shell/BottomBar.vue',
  'shell/MoreSheet.vue',
  'shell/NewSession.vue',
  'shell/PageSidebar.vue',
  'shell/PaneDrawer.vue',
  'shell/SidePanel.vue',
  'shell/TokenDialog.vue',
];

it('no native dialog, select or popover is outside of ui/', () => {
  const layer = /<(dialog|select)\b|\spopover(=|>|\s)/;
  expect(pathsOf((text) => layer.test(text))).toEqual([]);
});

it('no native button or field is outside of ui/', () => {
  const control = /<(button|textarea|input(?![^>]*type="(?:radio|checkbox|file)"))\b/;
  expect(pathsOf((text) => control.test(text), WITH_NATIVE_CONTROLS)).toEqual([]);
});

it('no style outside of ui/ is one of a control', () => {
  const selector = /(?:^|[\s,>])(?:button|input|select|textarea|dialog|\.ui-[\w-]+)(?=[\s,:.[{>])[^;{}]*\{/m;
  const isStyling = (text: string) => text.includes('<style') && selector.test(text.slice(text.indexOf('<style')));
  expect(pathsOf(isStyling, WITH_STYLED_CONTROLS)).toEqual([]);
});
