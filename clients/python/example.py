"""Sends a prompt and waits for the answer. SERVICE_URL and SERVICE_TOKEN name the server."""

import os
import sys
import time

from service_code import ApiError, Client

client = Client(os.environ.get("SERVICE_URL", "http://127.0.0.1:58627"), os.environ.get("SERVICE_TOKEN"))
try:
    session = client.post_sessions({"metadata": {"cwd": os.getcwd()}})
    client.post_session_prompts(session["id"], {"content": [{"type": "text", "text": " ".join(sys.argv[1:]) or "Hello"}]})
    while client.get_session(session["id"])["busy"]:
        time.sleep(0.2)
    [message] = client.get_session_messages(session["id"], role="assistant", page_size=1)["items"]
    print("".join(part["text"] for part in message["content"] if part["type"] == "text"))
except ApiError as error:
    sys.exit(f"refused with {error.code}: {error.msg} (request {error.request_id})")
