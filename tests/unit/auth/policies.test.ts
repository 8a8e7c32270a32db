import { expect, it } from 'vitest';
import { createPolicies } from '#server/auth/policies.ts';

it('lets a listed origin frame the page only if it can neither terminate nor break the policy', () => {
  const broken = [
    'no url',
    ' https://space.test',
    'https://space.test ',
    'https://ü.test',
    'https://path.test/ü',
    'https://a.test;script-src',
    'https://a.test,b',
    "https://a.test/'self'",
    'https://a.test/"',
    'https://a.test\n',
  ];
  const listedOrigins = new Set([...broken, 'https://listed.test', 'vscode-webview://id']);
  const { page } = createPolicies({ exposed: false, needsCredentials: false, listedOrigins });
  expect(page['content-security-policy']).toMatch(
    /; frame-ancestors 'self' https:\/\/listed\.test vscode-webview:\/\/id$/,
  );
});
