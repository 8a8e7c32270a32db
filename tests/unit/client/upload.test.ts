/** Uploads whose progress is requested. */
import { expect, it } from 'vitest';
import { ConnectionError, createRest, type UploadRequest } from '@service-code/client';

type Name = 'load' | 'error' | 'abort';
type Progress = Parameters<UploadRequest['upload']['addEventListener']>[1];

/** A browser's request that the test answers. */
class FakeRequest implements UploadRequest {
  static last: FakeRequest;
  status = 200;
  responseText = '';
  readonly headers: Record<string, string> = {};
  readonly listeners = new Map<Name, () => void>();
  url = '';
  body: FormData | undefined;
  report: Progress = () => {};
  readonly upload = { addEventListener: (_: 'progress', listener: Progress) => void (this.report = listener) };
  constructor() {
    FakeRequest.last = this;
  }
  addEventListener(type: Name, listener: () => void) {
    this.listeners.set(type, listener);
  }
  open(method: string, url: string) {
    this.url = `${method} ${url}`;
  }
  setRequestHeader(name: string, value: string) {
    this.headers[name] = value;
  }
  getAllResponseHeaders() {
    return 'content-type: application/json\r\nx-service-client-public-id: public\r\n';
  }
  send(body: FormData) {
    this.body = body;
  }
  abort() {
    this.listeners.get('abort')?.();
  }
  answer(reply: object) {
    this.responseText = JSON.stringify(reply);
    this.listeners.get('load')?.();
  }
}

const ids: string[] = [];
const rest = createRest({
  baseUrl: 'http://127.0.0.1:1/base/',
  token: () => 'secret',
  caller: { name: 'test', id: 'x', onPublicId: (id) => ids.push(id) },
  XMLHttpRequest: FakeRequest,
});

it('reports the sent share, and has the reply', async () => {
  const shares: number[] = [];
  const upload = rest.upload(new Blob(['note']), 'note.txt', 60, { onProgress: (share) => shares.push(share) });
  const request = FakeRequest.last;
  expect(request.url).toBe('POST http://127.0.0.1:1/base/api/v1/files');
  expect(request.headers).toMatchObject({ authorization: 'Bearer secret', 'x-service-client-name': 'test' });
  expect(request.body?.get('expires_in_sec')).toBe('60');
  request.report({ loaded: 1, total: 4 });
  request.report({ loaded: 0, total: 0 });
  request.answer({ code: 0, msg: 'success', data: { id: 'file_1' }, request_id: 'r' });
  expect(await upload).toEqual({ id: 'file_1' });
  expect(shares).toEqual([0.25]);
  expect(ids).toEqual(['public']);
});

it('rejects like every other call: refused, without a reply, cancelled', async () => {
  const start = (signal?: AbortSignal) => rest.upload(new Blob(['']), 'a', 60, { signal, onProgress: () => {} });
  const refused = start();
  FakeRequest.last.answer({ code: 41301, msg: 'Too large', data: null, request_id: 'r' });
  await expect(refused).rejects.toMatchObject({ name: 'ApiError', code: 41301, message: 'Too large' });
  const lost = start();
  FakeRequest.last.listeners.get('error')?.();
  await expect(lost).rejects.toBeInstanceOf(ConnectionError);
  const controller = new AbortController();
  const cancelled = start(controller.signal);
  const reason = new Error('removed');
  controller.abort(reason);
  await expect(cancelled).rejects.toBe(reason);
  await expect(start(AbortSignal.abort(reason))).rejects.toBe(reason);
});
