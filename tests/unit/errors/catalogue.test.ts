import { describe, expect, it } from 'vitest';
import { codeOf, errorCatalogue, errorEntry } from '#server/errors/catalogue.ts';
import type { ErrorName } from '#server/errors/catalogue.ts';
import { ServiceError } from '#server/errors/service-error.ts';
import { failure } from '#utils/http/reply.ts';

/** Contract with clients: a number never changes its meaning. */
const CONTRACT = `
  40001 validation.failed
  40003 provider.oauth_managed
  40004 catalog.import_invalid
  40005 registry.import_invalid
  40101 auth.unauthorized
  40110 auth.provisioning_required
  40111 auth.token_missing
  40112 auth.token_unauthorized
  40113 auth.model_not_resolved
  40301 host.not_allowed
  40400 route.not_found
  40401 session.not_found
  40402 prompt.not_found
  40403 message.not_found
  40404 approval.not_found
  40405 question.not_found
  40406 task.not_found
  40407 file.not_found
  40408 mcp.server_not_found
  40409 fs.path_not_found
  40410 workspace.not_found
  40411 fs.permission_denied
  40412 provider.not_found
  40413 model.not_found
  40414 terminal.not_found
  40415 skill.not_found
  40416 tool_call.not_found
  40417 catalog.entry_not_found
  40418 capability.not_found
  40419 plugin.not_found
  40420 runtime.not_found
  40901 session.busy
  40902 approval.already_resolved
  40903 prompt.already_completed
  40904 task.already_finished
  40906 fs.is_directory
  40907 fs.is_binary
  40908 fs.git_unavailable
  40909 question.dismissed
  40910 compaction.unable
  40911 session.undo_unavailable
  40912 skill.not_activatable
  40913 goal.already_exists
  40914 goal.not_found
  40915 goal.status_invalid
  40917 goal.objective_empty
  40918 goal.objective_too_long
  40919 fs.already_exists
  40921 provider.already_exists
  40922 page_token.mismatch
  40923 session.title_unavailable
  40924 capability.install_in_progress
  40925 capability.unsupported
  40926 runtime.unavailable
  40927 prompt.id_conflict
  40928 remote_control.already_running
  40929 mcp.oauth_failed
  41001 approval.expired
  41002 question.expired
  41301 file.too_large
  41302 fs.too_large
  41304 fs.path_escapes_session
  41305 fs.grep_timeout
  42901 rate.limited
  42902 fs.watch_limit_exceeded
  50001 internal.error
  50003 persistence.failure
  50004 catalog.unavailable
`;

const names = Object.keys(errorCatalogue) as ErrorName[];

describe('error catalogue', () => {
  it('assigns the contract’s number to each name', () => {
    const contract = CONTRACT.trim().split(/\s*\n\s*/);
    expect(names.map((name) => `${codeOf(name)} ${name}`)).toEqual(contract);
  });

  it('has no duplicate numbers', () => {
    const codes = names.map(codeOf);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('has an HTTP status only for errors that are sent before the endpoint', () => {
    const statuses = names.flatMap((name) => {
      const { code, status } = errorEntry(name);
      return status === undefined ? [] : [[code, status]];
    });
    expect(statuses).toEqual([
      [40101, 401],
      [40301, 403],
      [40400, 404],
      [42901, 429],
    ]);
  });
});

describe('the envelope of a failure', () => {
  it('has number and status of the catalogue', () => {
    const reply = failure(new ServiceError('route.not_found', 'Route GET:/x not found'), 'R');
    expect(reply).toMatchObject({ status: 404, code: 40400 });
    expect(reply.body).toBe('{"code":40400,"msg":"Route GET:/x not found","data":null,"request_id":"R"}');
  });

  it('has another status if the caller overrides it', () => {
    expect(failure(new ServiceError('validation.failed', 'Malformed URL'), 'R', 400).status).toBe(400);
  });

  it('contains data and details', () => {
    const error = new ServiceError('task.already_finished', 'x', {
      data: { cancelled: false },
      details: { current_status: 'failed' },
    });
    expect(failure(error, 'R').body).toBe(
      '{"code":40904,"msg":"x","data":{"cancelled":false},"request_id":"R","details":{"current_status":"failed"}}',
    );
  });
});
