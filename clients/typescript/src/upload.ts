/** Sends a form and reports how much of it was sent, which `fetch` does not. */

/** The subset of `XMLHttpRequest` that is used. */
export interface UploadRequest {
  readonly status: number;
  readonly responseText: string;
  readonly upload: {
    addEventListener(type: 'progress', listener: (event: { loaded: number; total: number }) => void): void;
  };
  addEventListener(type: 'load' | 'error' | 'abort', listener: () => void): void;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: FormData): void;
  abort(): void;
}

export interface SentForm {
  headers: Readonly<Record<string, string>>;
  body: FormData;
  signal?: AbortSignal | undefined;
  /** Called with the sent share, from 0 to 1. */
  onProgress(share: number): void;
}

/** Rejects if there is no reply, and if the signal cancels the call. */
export function sendForm(
  Constructor: new () => UploadRequest,
  url: URL,
  { headers, body, signal, onProgress }: SentForm,
): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new Constructor();
    const abort = () => request.abort();
    signal?.addEventListener('abort', abort);
    const end = (settle: () => void) => () => {
      signal?.removeEventListener('abort', abort);
      settle();
    };
    request.addEventListener(
      'load',
      end(() =>
        resolve(
          new Response(request.responseText, {
            status: request.status,
            headers: headersIn(request.getAllResponseHeaders()),
          }),
        ),
      ),
    );
    request.addEventListener(
      'error',
      end(() => reject(new Error('no reply'))),
    );
    request.addEventListener(
      'abort',
      end(() => reject(new Error('cancelled'))),
    );
    request.upload.addEventListener('progress', ({ loaded, total }) => {
      if (total > 0) onProgress(loaded / total);
    });
    request.open('POST', url.href);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.send(body);
    if (signal?.aborted) abort();
  });
}

/** Parses lines of `name: value`. */
function headersIn(lines: string): [string, string][] {
  return lines.split('\r\n').flatMap((line): [string, string][] => {
    const at = line.indexOf(':');
    return at === -1 ? [] : [[line.slice(0, at), line.slice(at + 1).trim()]];
  });
}
