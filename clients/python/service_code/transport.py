"""Requests to a server and their failures. Uses the standard library alone."""

from __future__ import annotations

import json
import secrets
import urllib.error
import urllib.parse
import urllib.request
from typing import Any, BinaryIO, Dict, Mapping, Optional, Tuple

_TIMEOUT = 60.0


class ApiError(Exception):
    """The server refused a request: most failures have the HTTP status 200 and a code of their own."""

    def __init__(self, code: int, msg: str, details: Any, request_id: Optional[str]) -> None:
        super().__init__(f"{code}: {msg}")
        self.code = code
        self.msg = msg
        self.details = details
        self.request_id = request_id


class Download:
    """The bytes of a file, read as they arrive. Close it, or use it in a `with` statement."""

    def __init__(self, response: Any) -> None:
        self._response = response
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers

    def read(self, size: int = -1) -> bytes:
        return self._response.read() if size < 0 else self._response.read(size)

    def close(self) -> None:
        self._response.close()

    def __enter__(self) -> "Download":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def quote(text: str) -> str:
    """A value as one segment of a path."""
    return urllib.parse.quote(text, safe="")


def _is_file(response: Any) -> bool:
    # A file may be JSON too; envelopes have no ranges.
    return "accept-ranges" in response.headers or response.headers.get_content_type() != "application/json"


class Transport:
    """Sends requests to one server."""

    def __init__(self, url: str, token: Optional[str] = None, timeout: float = _TIMEOUT) -> None:
        """`url`: the address of the server's page, with the base path if it has one."""
        self._url = url.rstrip("/")
        self._token = token
        self._timeout = timeout

    def _open(
        self, method: str, path: str, query: Optional[Mapping[str, Any]], data: Optional[bytes], headers: Dict[str, str]
    ) -> Any:
        pairs = []
        for name, value in (query or {}).items():
            for item in value if isinstance(value, (list, tuple)) else [value]:
                if item is not None:
                    pairs.append((name, str(item).lower() if isinstance(item, bool) else str(item)))
        target = self._url + path + ("?" + urllib.parse.urlencode(pairs) if pairs else "")
        request = urllib.request.Request(target, data=data, method=method, headers=headers)
        if self._token is not None:
            request.add_header("authorization", f"Bearer {self._token}")
        try:
            return urllib.request.urlopen(request, timeout=self._timeout)
        except urllib.error.HTTPError as error:
            # Its body is an envelope too.
            return error

    def _json(self, response: Any) -> Any:
        with response:
            text = response.read()
        try:
            return json.loads(text)
        except ValueError:
            raise ApiError(response.status, "the reply is not JSON", None, None) from None

    def _data(self, response: Any) -> Any:
        envelope = self._json(response)
        if not isinstance(envelope, dict) or "code" not in envelope:
            raise ApiError(response.status, "the reply is no envelope", None, None)
        if envelope["code"] != 0:
            raise ApiError(envelope["code"], envelope.get("msg", ""), envelope.get("details"), envelope.get("request_id"))
        return envelope["data"]

    def _request(
        self, method: str, path: str, query: Optional[Mapping[str, Any]] = None, body: Optional[Any] = None
    ) -> Any:
        data = None if body is None else json.dumps(body).encode()
        headers = {} if data is None else {"content-type": "application/json"}
        return self._data(self._open(method, path, query, data, headers))

    def _document(self, method: str, path: str, query: Optional[Mapping[str, Any]] = None) -> Dict[str, Any]:
        response = self._open(method, path, query, None, {})
        if response.status != 200:
            self._data(response)
        return self._json(response)

    def _download(
        self,
        method: str,
        path: str,
        query: Optional[Mapping[str, Any]] = None,
        body: Optional[Any] = None,
        range: Optional[Tuple[int, Optional[int]]] = None,
    ) -> Download:
        headers: Dict[str, str] = {}
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["content-type"] = "application/json"
        if range is not None:
            first, last = range
            headers["range"] = f"bytes={first}-{'' if last is None else last}"
        response = self._open(method, path, query, data, headers)
        if response.status not in (200, 206) or not _is_file(response):
            self._data(response)
        return Download(response)

    def _upload(
        self, method: str, path: str, file: BinaryIO, name: str, fields: Optional[Mapping[str, str]] = None
    ) -> Any:
        boundary = secrets.token_hex(16)
        shown = name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'.encode()
            for key, value in (fields or {}).items()
        ]
        parts.append(
            f'--{boundary}\r\ncontent-disposition: form-data; name="file"; filename="{shown}"\r\n'
            "content-type: application/octet-stream\r\n\r\n".encode()
        )
        data = b"".join(parts) + file.read() + f"\r\n--{boundary}--\r\n".encode()
        headers = {"content-type": f"multipart/form-data; boundary={boundary}"}
        return self._data(self._open(method, path, None, data, headers))
