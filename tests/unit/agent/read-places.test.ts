/** Paths that configure agents are guarded: tools cannot write to a path that a reader opens without approval. */
import { mkdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { expect, it } from 'vitest';
import { createAgentProfiles } from '#server/agent/profiles/profiles.ts';
import { createInstructionFiles } from '#server/agent/prompt/instructions.ts';
import { layersOf } from '#server/mcp/config/layers.ts';
import { createServerHome } from '#server/home/server-home.ts';
import { createLocalRuntime } from '#server/runtime/local.ts';
import { configPathOf } from '#server/workspaces/local-config.ts';
import { putFile } from '#support/files.ts';
import { openPolicy } from '#support/policy.ts';
import { openProjects } from '#support/projects.ts';
import { temporaryHome } from '#support/temporary-home.ts';

const AGENT = '---\ndescription: D\n---\nHelp.\n';

it("a write to a path that a reader opens requires approval in every mode but auto, where the user's paths are denied", async () => {
  const base = await temporaryHome();
  const [person, home, project] = [join(base, 'person'), join(base, 'home'), join(base, 'project')];
  const cwd = join(project, 'sub');
  await putFile(join(project, '.git/HEAD'), 'ref: refs/heads/main\n');
  await mkdir(cwd);
  const extra = join(base, 'extra');
  const ofUser = [home, join(person, '.agents')];
  for (const folder of [...ofUser, join(project, '.service-code'), join(project, '.agents')]) {
    await putFile(join(folder, 'agents/one.md'), AGENT);
    await putFile(join(folder, 'AGENTS.md'), 'text');
  }
  await putFile(join(extra, 'two.md'), AGENT);
  await putFile(join(project, 'agents/three.md'), AGENT);
  await putFile(join(project, 'AGENTS.md'), 'text');
  await putFile(join(cwd, 'agents.md'), 'text');
  await putFile(join(cwd, '.service-code/AGENTS.md'), 'text');

  const opened = new Set<string>();
  const local = createLocalRuntime();
  const runtime = {
    ...local,
    homeDirectory: () => person,
    readFile(...args: Parameters<typeof local.readFile>) {
      opened.add(args[0]);
      return local.readFile(...args);
    },
  };
  const projects = openProjects({ runtime });
  const shared = { clock: { now: () => 0 }, home };
  const instructions = createInstructionFiles({ ...shared, runtime, projects, isSecret: async () => false });
  const profiles = createAgentProfiles({
    ...shared,
    files: runtime,
    homeDirectory: runtime.homeDirectory,
    addedFolders: () => [],
    extraDirs: () => [extra, 'agents'],
    project: instructions.project,
    admits: projects.admits,
    trusted: async () => true,
    maxAgeMs: 0,
    log: { warn: () => undefined },
  });
  await instructions.read(cwd);
  await profiles.look(cwd);
  for (const { path } of layersOf(home, { root: cwd, top: project })) opened.add(path);
  opened.add(configPathOf(project));
  expect(opened.size).toBeGreaterThan(12);

  const policy = openPolicy({ repositoryOf: projects.repositoryOf, controlFolders: profiles.folders });
  const places = {
    runtime,
    cwd,
    sessionDir: join(home, 'sessions/wd_x/session_x'),
    home: createServerHome(home),
    // The whole disk is the workspace, so that no path requires approval only because it is outside.
    additionalDirs: async () => [base],
    readableDirs: () => Promise.resolve([]),
  };
  const verdict = async (path: string, mode: 'manual' | 'auto' | 'yolo') => {
    const subject = { text: path, match: 'path' as const };
    const accesses = [{ kind: 'file' as const, path, mode: 'write' as const }];
    const tool = { toolName: 'Write', permission: 'write' as const, effects: 'workspace' as const };
    const call = { ...tool, agentId: 'main', subject, accesses };
    return (await policy.decide(call, { mode, rules: [], remembered: [], places })).kind;
  };
  const isPlain = (path: string) =>
    basename(path).toLowerCase() === 'agents.md' &&
    !/[/]\.(service-code|agents)[/]/.test(path) &&
    !path.startsWith(home);
  for (const path of opened) {
    const expected = isPlain(path) ? 'approve' : 'ask';
    expect([path, await verdict(path, 'manual')]).toEqual([path, expected]);
    expect([path, await verdict(path, 'yolo')]).toEqual([path, expected]);
    const isUsers = ofUser.some((folder) => path.startsWith(folder));
    expect([path, await verdict(path, 'auto')]).toEqual([path, isUsers ? 'deny' : 'approve']);
  }
});
