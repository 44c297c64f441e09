import { expect, test } from "bun:test";
import { settings } from "../../../src/config/settings/settings.ts";
import { refuse } from "../../../src/console/operator/operator-sessions.ts";
import { settingsInForce } from "../../../src/console/operator/present.ts";
import { settingRoutes } from "../../../src/console/operator/setting-routes.ts";
import { ok } from "../../../src/lib/result.ts";
import { configWith } from "../../runtime/config.ts";

const SECRETS = [
  "state.url=postgres://owner:hidden-1@db.example:5432/svc?sslmode=verify-full",
  "state.password=hidden-2",
  "upstream.url=https://hub.example",
  "upstream.username=reader",
  "upstream.password=hidden-3",
  "chain.op_rpc_url=https://user:hidden-20@op.example/hidden-21?key=hidden-22",
  "chain.base_rpc_url=https://user:hidden-30@base.example/hidden-31",
  "previews.proxy_url=http://user:hidden-23@proxy.example:3128",
  "chain.l1_rpc_url=https://user:hidden-4@rpc.example/hidden-5?key=hidden-6",
  `signers.encryption_key=${"5ec7e7".repeat(10)}ffff`,
  `signers.previous_encryption_keys=${"dec7e7".repeat(10)}ffff`,
  "backup.access_key_id=hidden-8",
  "backup.secret_access_key=hidden-9",
  "backup.session_token=hidden-10",
  `backup.encryption_key=${"ac7e75".repeat(10)}ffff`,
  "trace.endpoint=https://user:hidden-24@traces.example/hidden-25",
  "trace.headers=api-key=hidden-26",
  `console.operator_token=hidden-7-${"x".repeat(40)}`,
];
/** A node has either of them. */
const WITH_URLS = SECRETS.map((set) => set.replace(/^upstream\.url=/, "upstream.urls="));

test("no secret of settings full of them is shown, and each setting has its source", () => {
  const shown = settingsInForce(configWith(...SECRETS), new Map([["state.password", "SVC_STATE_PASSWORD"]]));
  const text = JSON.stringify([shown, settingsInForce(configWith(...WITH_URLS), new Map())]);
  for (const secret of ["hidden-", "5ec7e7", "dec7e7", "ac7e75"]) expect(text).not.toContain(secret);
  expect(shown.map(({ key }) => key)).toEqual(settings.map(({ key }) => key));
  expect(shown.find(({ key }) => key === "state.password")).toEqual({
    key: "state.password",
    value: "***",
    source: "SVC_STATE_PASSWORD",
    default: "",
    meaning: expect.stringContaining("password"),
    rule: expect.any(String),
    apply: "file",
  });
  // Each setting that is marked as secret was given one.
  const masked = settings.filter(({ secret }) => secret).map(({ key }) => key);
  const given = new Set([...SECRETS, ...WITH_URLS].map((secret) => secret.split("=")[0] ?? ""));
  given.delete("upstream.username");
  expect([...given].toSorted()).toEqual(masked.toSorted());
});

test("what a flag sets is locked, even a setting that the page cannot change", () => {
  const sources = new Map([
    ["net.allow_cidrs", "--set"],
    ["net.allow_http", "/etc/svc.toml, line 2"],
  ]);
  const isLocked = (source: string) => source === "--set";
  const marks = { set: {}, next: new Map(), isLocked, isAlike: () => false };
  const shown = settingsInForce(configWith(), sources, marks);
  const applyOf = (name: string) => shown.find(({ key }) => key === name)?.apply;
  expect(applyOf("net.allow_cidrs")).toBe("locked");
  expect(applyOf("net.allow_http")).toBe("file");
});

test("a change is in the audit log before it is in the file, and a second time where the file could not be written", async () => {
  const steps: string[] = [];
  const refused = refuse("conflict", "no space left on device");
  let written: unknown = refused;
  const routes = settingRoutes({
    node: {
      async checkSettings() {
        steps.push("check");
        return ok(null);
      },
      async changeSettings() {
        steps.push("write");
        return written;
      },
    } as never,
    nodeId: "n",
    hidden: { detail: { hide: true } },
    posted: {},
    read:
      (answer) =>
      async ({ request }) =>
        answer(request),
    change:
      (_, make) =>
      ({ request }) =>
        make(request, Buffer.from('{"values":{"http.port":1}}')),
    async record(_request, _action, id, outcome = "ok") {
      steps.push(`${id} ${outcome}`);
    },
  });
  const post = () => routes.handle(new Request("http://localhost/setting", { method: "POST" }));
  await post();
  expect(steps.splice(0)).toEqual(["check", "http.port ok", "write", "http.port failed"]);
  written = ok({ applied: [], at_start: ["http.port"], late: [] });
  expect((await post()).status).toBe(200);
  expect(steps).toEqual(["check", "http.port ok", "write"]);
});
