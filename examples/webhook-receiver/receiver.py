import hashlib
import hmac
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

secret = os.environ["WEBHOOK_SECRET"].encode()
if not secret:
    raise SystemExit("WEBHOOK_SECRET is missing")
MAX_BODY_BYTES = 1 << 20


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        length = int(self.headers.get("Content-Length", 0))
        if not 0 <= length <= MAX_BODY_BYTES:
            return self.respond(413)
        body = self.rfile.read(length)
        expected = hmac.new(secret, body, hashlib.sha512).hexdigest()
        received = self.headers.get("X-Svc-Signature", "")
        if not hmac.compare_digest(expected.encode(), received.encode()):
            return self.respond(401)
        event = json.loads(body)
        print(event["type"], event["data"].get("text"), flush=True)
        self.respond(204)

    def respond(self, status):
        self.send_response(status)
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 9301), Receiver)
print(f"listening at http://127.0.0.1:{server.server_port}/", flush=True)
server.serve_forever()
