import { expect, test } from "bun:test";
import { logTo } from "../support/log.ts";
import { callBySession, createSession, SESSION_ORIGIN } from "../support/sessions.ts";
import { startSignedApi } from "../support/signed-api.ts";

const WEBHOOK = { name: "Hook", url: "https://hook.example/", subscription: { "cast.created": {} } };

test("the log names each change with its operation, owner and credential, and no read", async () => {
  const lines: Record<string, unknown>[] = [];
  const log = logTo((line: string) => lines.push(JSON.parse(line)));
  const settings = [`service.public_url=${SESSION_ORIGIN}`];
  await using signed = await startSignedApi({ log, settings, compatPrefixes: ["farcaster"] });
  const key = { name: "Key", scopes: ["webhooks"] };
  const { body: created } = await signed.call({ method: "POST", path: "/api_key", body: key });
  const session = await createSession(signed, 4);
  const hook = await signed.call({ method: "POST", path: "/webhook?owner_fid=4", body: WEBHOOK, fid: 4 });
  const body = { webhook_id: hook.body.webhook.webhook_id, active: false };
  expect((await callBySession(signed, session, { method: "PATCH", path: "/webhook", body })).status).toBe(
    200,
  );
  const byKey = (method: "GET" | "POST", path: string, sent?: object) =>
    fetch(`${signed.api.url}/v2/farcaster${path}`, {
      method,
      headers: { "x-api-key": created.secret, "content-type": "application/json" },
      ...(sent && { body: JSON.stringify(sent) }),
    });
  expect((await byKey("POST", "/webhook", WEBHOOK)).status).toBe(200);
  // Reads, by each credential.
  expect((await byKey("GET", "/webhook/list")).status).toBe(200);
  expect((await callBySession(signed, session, { method: "GET", path: "/webhook/list" })).status).toBe(200);
  expect((await signed.call({ method: "GET", path: "/webhook/list" })).status).toBe(200);

  const changes = lines.filter(({ msg }) => msg === "Executed a signed operation");
  const requestId = expect.any(String);
  const credentials = ({ apiKeyPrefix, sessionId }: Record<string, unknown>) => [apiKeyPrefix, sessionId];
  expect(changes).toMatchObject([
    { op: "api_key.create", fid: 3, requestId },
    { op: "session.create", fid: 4, requestId },
    { op: "webhook.create", fid: 4, requestId },
    { op: "webhook.update", fid: 4, requestId },
    { op: "webhook.create", fid: 3, requestId },
  ]);
  const none = [undefined, undefined];
  const [prefix, ...others] = changes.map(credentials).toReversed();
  expect(others).toEqual([[undefined, session.sessionId], none, none, none]);
  expect(prefix).toEqual([expect.stringMatching(/^.{4,}$/), undefined]);
  expect(created.secret).toStartWith(String(prefix?.[0]));
  expect(JSON.stringify(lines)).not.toContain(created.secret);
});
