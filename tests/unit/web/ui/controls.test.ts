import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const web = new URL('../../../../web/', import.meta.url);

/** The components outside `ui/`, with their templates and styles. */
const components = readdirSync(web, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.vue') && !/^(ui|stories|dist)\//.test(path))
  .map((path) => ({ path, text: readFileSync(new URL(path, web), 'utf8') }));

const containing = (pattern: RegExp) =>
  components
    .filter(({ text }) => pattern.test(text))
    .map(({ path }) => path)
    .toSorted();

/** Components that are not converted to the parts of `ui/` yet: the list only gets shorter. */
const WITH_NATIVE_LAYERS: readonly string[] = [
  'composer/ContextMeter.vue',
  'composer/SessionPickers.vue',
  'shell/AgentDialog.vue',
  'shell/NewSession.vue',
  'shell/ProviderHint.vue',
  'shell/TokenDialog.vue',
];
const WITH_NATIVE_CONTROLS: readonly string[] = [
  'composer/AttachmentList.vue',
  'composer/ChatComposer.vue',
  'composer/ContextMeter.vue',
  'composer/ModeSwitch.vue',
  'composer/PromptQueue.vue',
  'conversation/FoldingCard.vue',
  'conversation/ReadingGroup.vue',
  'conversation/UndoButton.vue',
  'conversation/VirtualRows.vue',
  'conversation/WorkLine.vue',
  'features/approvals/ApprovalCard.vue',
  'features/approvals/FeedbackForm.vue',
  'features/goals/GoalForm.vue',
  'features/goals/GoalStartCard.vue',
  'features/goals/GoalStrip.vue',
  'features/plan-mode/PlanReviewCard.vue',
  'features/questions/QuestionCard.vue',
  'features/questions/QuestionItem.vue',
  'features/swarm/SwarmBody.vue',
  'features/tasks/TaskRow.vue',
  'features/workspace/FileViewer.vue',
  'features/workspace/FilesPanel.vue',
  'palette/PagePalette.vue',
  'shell/AgentDialog.vue',
  'shell/BatchFailures.vue',
  'shell/BottomBar.vue',
  'shell/ChangeNotices.vue',
  'shell/ConnectionBanner.vue',
  'shell/NewSession.vue',
  'shell/PaneHeader.vue',
  'shell/ProviderHint.vue',
  'shell/SelectionBar.vue',
  'shell/SessionListRow.vue',
  'shell/TokenDialog.vue',
];
const WITH_STYLED_CONTROLS: readonly string[] = [
  'composer/AttachmentList.vue',
  'composer/ChatComposer.vue',
  'composer/ContextMeter.vue',
  'composer/SessionPickers.vue',
  'conversation/WorkLine.vue',
  'features/approvals/FeedbackForm.vue',
  'features/goals/GoalForm.vue',
  'features/plan-mode/PlanReviewCard.vue',
  'features/plugins/InstallForm.vue',
  'features/providers/RegistryForm.vue',
  'features/questions/QuestionItem.vue',
  'palette/PagePalette.vue',
  'shell/AgentDialog.vue',
  'shell/BottomBar.vue',
  'shell/MoreSheet.vue',
  'shell/NewSession.vue',
  'shell/PageSidebar.vue',
  'shell/SidePanel.vue',
  'shell/TokenDialog.vue',
];

it('no native dialog, select or popover is outside of ui/', () => {
  expect(containing(/<(dialog|select)\b|\spopover(=|>|\s)/)).toEqual(WITH_NATIVE_LAYERS);
});

it('no native button or field is outside of ui/', () => {
  expect(containing(/<(button|textarea|input(?![^>]*type="(?:radio|checkbox|file)"))\b/)).toEqual(WITH_NATIVE_CONTROLS);
});

it('no style outside of ui/ is one of a control', () => {
  const selector = /(?:^|[\s,>])(?:button|input|select|textarea|dialog|\.ui-[\w-]+)(?=[\s,:.[{>])[^;{}]*\{/m;
  const stylesOf = (text: string) => text.slice(text.indexOf('<style'));
  expect(
    components
      .filter(({ text }) => text.includes('<style') && selector.test(stylesOf(text)))
      .map(({ path }) => path)
      .toSorted(),
  ).toEqual(WITH_STYLED_CONTROLS);
});
