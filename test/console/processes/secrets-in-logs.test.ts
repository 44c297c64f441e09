import { afterAll, beforeAll, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { demoKeys } from "../../../src/demo/keys.ts";
import { keysOfPerson, postAsPerson } from "../../support/demo-calls.ts";
import { startDemoNode } from "../../support/demo-node.ts";
import { createPageKey } from "../../support/operator-page.ts";
import { type RunningNode, tempDir } from "../../support/program.ts";
import { newSessionKey, sessionHeaders } from "../../support/sessions.ts";

const OWNER = 3;
const dir = tempDir();
const dataDir = join(dir.path, "demo");
let node: RunningNode;

beforeAll(async () => {
  node = await startDemoNode({ dataDir, args: ["--set", "http.workers=2", "--log-level", "trace"] });
});
afterAll(async () => {
  await node[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  fetch(node.url + path, { method: "POST", body: JSON.stringify(body), headers });

test("check 25: no secret, code, key or signature of a console's day is in a log at trace or in the files of the state", async () => {
  const secrets: Record<string, string> = {};
  const custody = keysOfPerson(OWNER).custody.privateKey;
  secrets.custodyKey = custody.slice(2);

  // What an owner makes, by custody.
  const { app } = (await postAsPerson(node, OWNER, "/frame/app", {
    name: "Bread club",
    app_url: "https://bread.demo.example/",
  })) as { app: { app_id: string; send_secrets: { value: string }[] } };
  secrets.sendSecret = app.send_secrets[0]?.value ?? "";
  await post("/console/demo/add-app", { app_id: app.app_id, people: 5 });
  const receiver = await post("/console/demo/receiver", { fid: OWNER });
  const { url } = (await receiver.json()) as { url: string };
  const { webhook } = (await postAsPerson(node, OWNER, `/webhook?owner_fid=${OWNER}`, {
    name: "all casts",
    url,
    subscription: { "cast.created": {} },
  })) as { webhook: { webhook_id: string; secrets: { value: string }[] } };
  secrets.webhookSecret = webhook.secrets[0]?.value ?? "";
  const created = await postAsPerson(node, OWNER, "/api_key", { name: "k", scopes: ["read"] });
  secrets.apiKey = String(created.secret);

  // A session: its requests, also refused ones.
  const { privateKey, body } = newSessionKey({ origin: node.url });
  const { session } = (await postAsPerson(node, OWNER, "/session", body)) as {
    session: { session_id: string };
  };
  secrets.sessionKey = Buffer.from(privateKey.export({ format: "jwk" }).d ?? "", "base64url").toString("hex");
  const signer = { sessionId: session.session_id, fid: OWNER, privateKey };
  for (const [method, path, changes] of [
    ["GET", "/frame/app/list", {}],
    ["GET", "/frame/app/list", { signed: { path: "/webhook/list" } }],
    ["POST", "/webhook/test", { body: { webhook_id: webhook.webhook_id } }],
    ["POST", "/webhook/test", { body: "{" }],
    ["DELETE", "/frame/app", {}],
  ] as const) {
    const call = { method, path, signedAt: Math.floor(Date.now() / 1000), ...changes };
    const headers = sessionHeaders(signer, call);
    secrets[`signature of ${method} ${path} ${Object.keys(secrets).length}`] = (
      headers["X-Svc-Signature"] ?? ""
    ).slice(2);
    const sent =
      "body" in call ? (typeof call.body === "string" ? call.body : JSON.stringify(call.body)) : undefined;
    await fetch(`${node.url}/v2/svc${path}`, {
      method,
      headers,
      ...(sent === undefined ? {} : { body: sent }),
    });
  }

  // Bearers in the wrong places, and a send by its secret.
  await post(
    `/v2/svc/frame/notifications/${app.app_id}`,
    { notification: { title: "t", body: "b", target_url: "https://bread.demo.example/" }, target_fids: [] },
    { "x-api-key": secrets.sendSecret },
  );
  await fetch(`${node.url}/v2/svc/user?fid=3&api_key=${secrets.apiKey}`);
  await fetch(`${node.url}/console/${secrets.apiKey}?key=${secrets.sendSecret}`);
  await fetch(`${node.url}/console/a/${secrets.apiKey}`);

  // The operator's code, used, used again, and unused.
  const token = readFileSync(join(dataDir, "operator.token"), "utf8").trim();
  secrets.operatorToken = token;
  const publicKey = `0x${Buffer.from(createPageKey().publicKey).toString("hex")}`;
  for (const name of ["usedCode", "unusedCode"]) {
    const issued = await post("/console/op/code", {}, { authorization: `Bearer ${token}` });
    secrets[name] = ((await issued.json()) as { code: string }).code;
  }
  for (const status of [200, 401]) {
    const opened = await post("/console/op/session", { code: secrets.usedCode, public_key: publicKey });
    expect(opened.status).toBe(status);
  }
  secrets.wrongToken = "WrongTokenOfSomebodyWhoGuesses";
  await post("/console/op/code", {}, { authorization: `Bearer ${secrets.wrongToken}` });

  // An approval link, and the keys of a demo person.
  secrets.approvalToken = "ApprovalTokenThatNobodyHasMade12";
  await fetch(`${node.url}/approve/${secrets.approvalToken}`);
  await post(`/approve/${secrets.approvalToken}/prepare`, { address: `0x${"1".repeat(40)}` });
  await fetch(`${node.url}/console/demo/key?fid=17`);
  secrets.lentKey = demoKeys(17)?.custody.privateKey.slice(2) ?? "";

  for (const [name, secret] of Object.entries(secrets))
    expect([name, secret.length]).toEqual([name, expect.any(Number)]);
  expect(Object.values(secrets).every((secret) => secret.length >= 16)).toBe(true);
  const text = node.logs();
  expect(text).toContain('"op":"webhook.update"');
  const inLogs = Object.entries(secrets).filter(([, secret]) => text.includes(secret));
  expect(inLogs.map(([name]) => name)).toEqual([]);
  const { lines } = (await (await fetch(`${node.url}/console/op/log`)).json()) as { lines: unknown };
  const metrics = await (await fetch(`${node.url}/metrics`)).text();
  const status = await (await fetch(`${node.url}/status`)).text();
  const answers = JSON.stringify(lines) + metrics + status;
  expect(
    Object.entries(secrets)
      .filter(([, secret]) => answers.includes(secret))
      .map(([name]) => name),
  ).toEqual([]);

  // What signs for webhooks has to be kept; nothing else is.
  const kept = new Set(["webhookSecret", "sendSecret"]);
  const files = readdirSync(dataDir).filter((name) => /^state\.db/.test(name));
  expect(files).toContain("state.db");
  for (const name of files) {
    const bytes = readFileSync(join(dataDir, name));
    const found = Object.entries(secrets).filter(
      ([key, secret]) =>
        !kept.has(key) &&
        (bytes.includes(secret) ||
          (/^([0-9a-f]{2})+$/.test(secret) && bytes.includes(Buffer.from(secret, "hex")))),
    );
    expect([name, found.map(([key]) => key)]).toEqual([name, []]);
  }
});
