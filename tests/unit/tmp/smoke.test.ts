import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readInstructions } from '../../../server/agent/instructions.ts';
import { mainProfile } from '../../../server/agent/profile.ts';
import { renderSystemPrompt } from '../../../server/agent/system-prompt.ts';
import type { EventFrame } from '../../../server/events/frame.ts';
import { createLogger } from '../../../server/log.ts';
import { createModelClient } from '../../../server/models/stream.ts';
import { decide } from '../../../server/permissions/policy.ts';
import { activeTools } from '../../../server/permissions/active-tools.ts';
import { createSessionIndex } from '../../../server/sessions/session-index.ts';
import { createSessions } from '../../../server/sessions/sessions.ts';
import { createDocuments } from '../../../server/storage/documents.ts';
import { createIndexDb } from '../../../server/storage/index-db.ts';
import { builtinTools } from '../../../server/tools/registry.ts';
import { createWorkspaces } from '../../../server/workspaces/workspaces.ts';
import { startModelServer } from '../../support/model-server.ts';
import { temporaryDirectory } from '../../support/server.ts';

test('smoke', async () => {
  const home = await temporaryDirectory();
  const project = join(home, 'p'); mkdirSync(project); execFileSync('git', ['init', '-q', project]);
  const model = await startModelServer();
  const log = createLogger('trace');
  const index = createSessionIndex({ db: createIndexDb({ home, log }), log, sessionsDir: join(home, 'sessions'), read: async () => undefined });
  const frames: EventFrame[] = [];
  const workspaces = createWorkspaces({ documents: createDocuments({ home }), index, publish: () => {}, log });
  const client = createModelClient();
  const resolved = { alias: 'fake/fake-1', wireName: 'fake-1', providerId: 'fake', providerType: 'native' as const, protocol: 'native' as const, baseUrl: model.baseUrl(), apiKey: model.key, headers: {}, capabilities: new Set<string>(), maxContextTokens: 100000, maxInputTokens: 0, supportEfforts: [], displayName: 'x' };
  const tools = builtinTools();
  const sessions = createSessions({
    root: join(home, 'sessions'), index, workspaces, sink: { publish: (f) => void frames.push(f) },
    agents: {
      shared: { tools, defaultPermission: () => 'manual', resolveModel: () => resolved, effort: () => 'off', settings: () => ({ effort: 'off' }), budget: () => 1000, limits: () => ({ maxSteps: 0, maxAttempts: 3 }), stream: client.streamModel },
      forSession: (place) => ({
        environment: () => ({ sessionId: place.id, agentId: 'main', cwd: place.cwd, additionalDirs: [], skillDirs: [], sessionDir: place.dir, activeTools: activeTools(tools.map((t) => t.name), { profile: mainProfile, sessionDisabled: place.disabledTools() }).active }),
        readInstructions: () => readInstructions(home, place.cwd),
        renderPrompt: (instructions) => renderSystemPrompt({ productName: 'Service Code', cwd: place.cwd, shell: '/bin/bash', additionalDirs: [], instructions }),
        decide: (toolName, plan, mode) => decide({ toolName, plan }, { mode, rules: [], sessionRules: place.rules(), environment: { cwd: place.cwd, additionalDirs: [], skillDirs: [], sessionDir: place.dir } }),
      }),
      defaultLimit: () => 100000,
    },
    subscribers: () => 0, version: '0', log, now: Date.now,
    submit: { assertReady: async () => {}, defaultModel: () => 'fake/fake-1', assertEffort: () => {} },
    assertModel: () => {}, announceArchived: () => {},
  });
  const s = await sessions.create({ metadata: { cwd: project } });
  model.enqueue({ thinking: 'hm', text: ['Hel', 'lo'], calls: [{ name: 'Bash', args: { command: 'echo hi' } }, { name: 'Read', args: { path: 'nope' } }] });
  model.enqueue({ text: ['done'] });
  const p = await sessions.submit(s.id, { content: [{ type: 'text', text: 'go' }] });
  console.log(p);
  const live = await sessions.open(s.id);

  await expect.poll(() => live.approvals.pending().length).toBe(1);
  live.approvals.resolve(live.approvals.pending()[0]!.approval_id, { decision: 'approved', scope: 'session' });
  await expect.poll(() => frames.some((f) => f.type === 'prompt.completed')).toBe(true);
  console.log(frames.map((f) => `${f.volatile ? '~' : ''}${f.seq} ${f.type} ${f.volatile ? JSON.stringify(f.payload).slice(0, 150) : ''}`).join('\n'));
  console.log((await live.messages({})).items.map((m) => JSON.stringify(m).slice(0, 300)).join('\n'));
  console.log(JSON.stringify(frames.find((f) => f.type === 'error')));
  await sessions.close();
  console.log(readFileSync(join(live.log.dir, 'journal.ndjson'), 'utf8').slice(0, 6000));
  await model.close();
});
