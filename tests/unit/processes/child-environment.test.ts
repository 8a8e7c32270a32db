import { expect, test } from 'vitest';
import { childEnvironment } from '#server/processes/child-environment.ts';

test('a child receives all variables but the secrets of the server', () => {
  const kept = {
    PATH: '/bin',
    SERVICE_CODE_HOME: '/h',
    SERVICE_MODEL_NAME: 'm',
    ANTHROPIC_API_KEY: 'of the user',
    MY_SERVICE_API_KEY: 'of the user',
    SERVICE_CODE_PASSWORD_FILE: '/f',
  };
  const secrets = {
    SERVICE_CODE_PASSWORD: 'x',
    SERVICE_API_KEY: 'x',
    SERVICE_MODEL_API_KEY: 'x',
    SERVICE_WEB_SEARCH_API_KEY: 'x',
    service_web_fetch_api_key: 'x',
  };
  expect(childEnvironment({ ...kept, ...secrets })).toEqual(kept);
});
