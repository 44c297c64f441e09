import { expect, test } from "bun:test";
import { runHttp } from "../support/http.ts";
import { sendRaw } from "../support/raw-socket.ts";
import { sampleRoutes } from "./sample-routes.ts";

test("disconnects a client that stalls in the middle of its body after the idle time", async () => {
  await using http = runHttp({ plugins: sampleRoutes(), http: { idle_timeout_secs: 1 } });
  const { text, closed } = await sendRaw(
    http.port,
    "POST /v2/svc/notes HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nabc",
  );
  expect(closed).toBe(true);
  expect(text).toBe("");
  expect(http.logLines.some((line) => ["error", "fatal"].includes(String(line.level)))).toBe(false);
}, 180_000);
