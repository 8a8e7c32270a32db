/** Which prompts are commands of the bridge; the others are sent to the model whole. */
import type { ContentPart, SkillDescriptor } from '@service-code/client';
import { expect, it } from 'vitest';
import { commandIn } from '../../../clients/acp/commands.ts';

const text = (value: string): ContentPart => ({ type: 'text', text: value });
const image: ContentPart = { type: 'image', source: { kind: 'base64', media_type: 'image/png', data: 'eA==' } };
const skills: SkillDescriptor[] = [{ name: 'Deploy', description: 'd', path: '/d', source: 'user' }];

it.each<[string, ContentPart[], ReturnType<typeof commandIn>]>([
  ['text', [text('go')], undefined],
  ['an unknown command', [text('/none a')], undefined],
  ['undo', [text(' /undo ')], { kind: 'undo' }],
  ['undo with a text', [text('/undo the rename in a.ts')], undefined],
  ['undo with an image', [text('/undo'), image], undefined],
  ['plan', [text('/plan')], { kind: 'plan', isOn: true, content: [] }],
  ['plan on', [text('/plan On')], { kind: 'plan', isOn: true, content: [] }],
  ['plan off', [text('/plan off')], { kind: 'plan', isOn: false, content: [] }],
  [
    'plan with a text and a context',
    [text('/plan add tests\nfor it '), text('context')],
    { kind: 'plan', isOn: true, content: [text('add tests\nfor it '), text('context')] },
  ],
  ['plan with an image', [text('/plan off'), image], { kind: 'plan', isOn: true, content: [text('off'), image] }],
  ['plan with a context alone', [text('/plan '), text('x')], { kind: 'plan', isOn: true, content: [text('x')] }],
  ['compact', [text('/compact keep a')], { kind: 'compact', instruction: 'keep a' }],
  ['a skill', [text('/deploy to b'), image], { kind: 'skill', name: 'Deploy', args: 'to b', attachments: [image] }],
])('%s', (_, content, command) => {
  expect(commandIn(content, skills)).toEqual(command);
});
