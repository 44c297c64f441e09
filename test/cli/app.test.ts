import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { isPlainOverNetwork, listenerUrl, nodeUrl } from "../../src/cli/client/node-url.ts";
import { recordsTable, recordTable } from "../../src/cli/operations/table.ts";
import { CLOSED_PORT } from "../support/addresses.ts";
import { compiledFile } from "../support/compiled-program.ts";
import {
  ALLOWED_URL,
  custodyKey,
  type ManagementNode,
  runWithoutLeak,
  startManagementNode,
  writeKeyFile,
} from "./management-node.ts";
import { emptyDir, run } from "./run.ts";

const OWNER = 3;
const OTHER = 4;
/** Has no apps. */
const QUIET = 5;
const UNKNOWN_APP = "1111111111111111";
const TIME = String.raw`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`;

let node: ManagementNode;
beforeAll(async () => {
  node = await startManagementNode(["apps.max_apps_per_owner=2"]);
}, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

interface AppJson {
  readonly app_id: string;
  readonly description: string | null;
  readonly signer_fid_allowlist: readonly number[];
  readonly send_secrets: readonly {
    readonly uid: string;
    readonly value: string;
    readonly expires_at: number | null;
  }[];
}

async function createApp(fid: number, ...args: string[]): Promise<AppJson> {
  return (
    (await node.json(fid, ["app", "create", "--name", "Crumbs", "--app-url", ALLOWED_URL, ...args])).app ??
    fail()
  );
}

function fail(): never {
  throw new Error("the response has no such member");
}

const failed = (status: number, message: string) => ({
  exitCode: 1,
  out: "",
  errors: `error: ${status}: ${message}\n`,
});

test("creates, reads, lists, updates, rotates and deletes an app; tables show the data of --json", async () => {
  const created = await node.as(OWNER, [
    ...["app", "create", "--name", "Bread club ☕ 面包", "--app-url", ALLOWED_URL],
    ...["--description", "Slow bread", "--signer-fid-allowlist", "1,2", "--signer-fid-allowlist", "5"],
  ]);
  expect(created).toMatchObject({ exitCode: 0, errors: "" });
  const [, id = ""] = /^app_id +(\w{16})$/m.exec(created.out) ?? [];
  const got = await node.json(OWNER, ["app", "get", id]);
  const app: AppJson = got.app ?? fail();
  const [secret] = app.send_secrets;
  const { uid = "", value = "" } = secret ?? {};
  const standard = `whsec_${Buffer.from(value).toString("base64")}`;
  expect(app).toEqual({
    app_id: id,
    owner_fid: OWNER,
    name: "Bread club ☕ 面包",
    app_url: ALLOWED_URL,
    description: "Slow bread",
    signer_fid_allowlist: [1, 2, 5],
    send_secrets: [
      { uid, value, standard_secret: standard, expires_at: null, created_at: expect.any(Number) },
    ],
    created_at: expect.any(Number),
    updated_at: expect.any(Number),
  } as unknown as AppJson);
  expect(value).toMatch(/^[0-9a-f]{64}$/);
  const table = new RegExp(
    [
      `^app_id                ${id}`,
      `owner_fid             ${OWNER}`,
      "name                  Bread club ☕ 面包",
      `app_url               ${ALLOWED_URL}`,
      "description           Slow bread",
      "signer_fid_allowlist  1, 2, 5",
      `created_at            ${TIME}`,
      `updated_at            ${TIME}`,
      "send_secrets",
      `  uid {33}  value {59}  created_at {12}expires_at  standard_secret`,
      `  ${uid}  ${value}  ${TIME}  - {11}${standard.replaceAll("+", "\\+")}\n$`,
    ].join("\n"),
  );
  expect(created.out).toMatch(table);
  expect((await node.as(OWNER, ["app", "get", id])).out).toBe(created.out);

  expect(await node.json(OWNER, ["app", "list"])).toEqual({ apps: [app] } as never);
  const list = await node.as(OWNER, ["app", "list"]);
  expect(list.out).toMatch(
    new RegExp(
      [
        "^app_id            name                app_url                  send_secrets  created_at",
        `${id}  Bread club ☕ 面包  ${ALLOWED_URL}  ${value.slice(0, 4)}…         ${TIME}\n$`,
      ].join("\n"),
    ),
  );
  expect((await node.as(OWNER, ["app", "list", "--reveal"])).out).toContain(`  ${value}  `);

  const updated = await node.as(OWNER, ["app", "update", id, "--name", "Rye club"]);
  expect(updated).toMatchObject({ exitCode: 0, errors: "" });
  expect(updated.out).toContain("name                  Rye club\n");
  expect(updated.out).not.toContain(value);
  const cleared = ["--no-description", "--signer-fid-allowlist", ""];
  const { app: last } = await node.json(OWNER, ["app", "update", id, ...cleared]);
  expect(last).toMatchObject({
    name: "Rye club",
    app_url: ALLOWED_URL,
    description: null,
    signer_fid_allowlist: [],
  });

  const rotated = await node.as(OWNER, ["app", "rotate", id]);
  expect(rotated.out).toMatch(
    new RegExp(
      `  ${uid}  ${value}  ${TIME}  ${TIME}  whsec_\\S+\n  \\S{36}  [0-9a-f]{64}  ${TIME}  - {21}whsec_\\S+\n$`,
    ),
  );

  expect(await node.as(OWNER, ["app", "delete", id])).toEqual({
    exitCode: 0,
    out: `deleted ${id}\n`,
    errors: "",
  });
  expect(await node.as(OWNER, ["app", "get", id])).toMatchObject({ exitCode: 1, out: "" });
  expect(await node.as(OWNER, ["app", "list"])).toEqual({ exitCode: 0, out: "none\n", errors: "" });
  const again = await createApp(OWNER);
  expect(await node.json(OWNER, ["app", "delete", again.app_id])).toEqual({ deleted: true } as never);
}, 180_000);

test("shows an app's audience, estimates a send and sends; tables show the data of --json", async () => {
  const { app_id: id } = await createApp(QUIET);
  const audience = await node.as(QUIET, ["app", "audience", id, "--days", "7"]);
  expect(audience).toMatchObject({ exitCode: 0, errors: "" });
  expect(audience.out).toMatch(
    /^total +0\n\nnone\n\nday +enabled +added +removed +disabled +invalidated\n\d{4}-\d\d-\d\d +0 +0 +0 +0 +0\n$/,
  );
  const filters = ["--target-fids", "1,2", "--exclude-fids", "2", "--following-fid", "5"];
  const estimate = await node.as(QUIET, ["app", "estimate", id, ...filters]);
  expect(estimate.out).toBe("tokens       0\nfids         0\nsent_before  0\n\nnone\n");
  const text = ["--title", "Fresh bread", "--body", "The oven is hot.", "--target-url", ALLOWED_URL];
  const sent = await node.as(QUIET, ["app", "send", id, ...text, ...filters]);
  expect(sent.out).toMatch(/^campaign_id +[0-9a-f-]{36}\nstatus +queued\n$/);
  expect(await node.json(QUIET, ["app", "send", id, ...text])).toMatchObject({ status: "queued" });
  const [, campaign = ""] = /campaign_id +(\S+)/.exec(sent.out) ?? [];
  const shown = await node.as(QUIET, ["app", "campaign", campaign]);
  expect(shown.out).toContain(`campaign_id          ${campaign}\n`);
  expect(shown.out).toMatch(/audience_count +0\n[\s\S]*\n\nnone\n$/);
  const listed = await node.as(QUIET, ["app", "campaigns", id, "--limit", "1"]);
  expect(listed.out).toMatch(
    /^campaign_id +status +audience_count [^\n]*\n[0-9a-f-]{36} [^\n]*\nmore: --cursor \S+\n$/,
  );
  const [, cursor = ""] = /--cursor (\S+)/.exec(listed.out) ?? [];
  expect((await node.as(QUIET, ["app", "campaigns", id, "--cursor", cursor])).out).toContain(campaign);
  expect(await node.as(OWNER, ["app", "campaign", campaign])).toEqual(
    failed(403, "the app belongs to another fid"),
  );
  expect(await node.as(QUIET, ["app", "estimate", id, "--target-fids", ""])).toMatchObject({
    exitCode: 1,
    errors: "error: --target-fids has no fid; leave it out for all users\n",
  });
  expect(await node.as(OWNER, ["app", "send", id, ...text])).toEqual(
    failed(403, "the app belongs to another fid"),
  );
  await node.as(QUIET, ["app", "delete", id]);
}, 180_000);

describe("exits with 1, status and message when the node rejects the request", () => {
  let app: AppJson;
  beforeAll(async () => {
    app = await createApp(OTHER);
  });

  test.each(["get", "delete", "rotate", "update"])(
    "app %s of another fid's app is 403, of none 404",
    async (command) => {
      const change = command === "update" ? ["--name", "Mine now"] : [];
      const [foreign, missing] = await Promise.all(
        [app.app_id, UNKNOWN_APP].map((id) => node.as(OWNER, ["app", command, id, ...change])),
      );
      expect(foreign).toEqual(failed(403, "the app belongs to another fid"));
      expect(missing).toMatchObject({ exitCode: 1, out: "" });
      expect(missing?.errors).toStartWith("error: 404: ");
    },
  );

  test("returns 401 for a key of another fid", async () => {
    const args = ["app", "list", "--fid", `${OTHER}`, "--url", node.url];
    const ended = await runWithoutLeak(custodyKey(OWNER), args, { env: { SVC_KEY: custodyKey(OWNER) } });
    expect(ended).toEqual(failed(401, "signature is not by the custody address of the fid"));
  });

  test("returns 400 for a URL that is not allowed, and 429 for a record above the cap", async () => {
    const bad = await node.as(OTHER, ["app", "create", "--name", "x", "--app-url", "http://example.com"]);
    expect(bad.errors).toStartWith("error: 400: app_url ");
    await createApp(OTHER);
    const third = await node.as(OTHER, ["app", "create", "--name", "x", "--app-url", ALLOWED_URL]);
    expect(third).toMatchObject({ exitCode: 1, out: "" });
    expect(third.errors).toStartWith("error: 429: ");
  });
});

/** Runs `app list` for OWNER against a URL, the key in the environment. */
function listAt(url: string, ...flags: readonly string[]) {
  const args = ["app", "list", "--fid", `${OWNER}`, "--url", url, ...flags];
  return runWithoutLeak(custodyKey(OWNER), args, { env: { SVC_KEY: custodyKey(OWNER) } });
}

describe("a node that does not respond properly", () => {
  /** A server that sends the same response to every request and records the requests. */
  function serverOf(response: () => Response) {
    const requests: string[] = [];
    const fetch = ({ method, url }: Request) => {
      requests.push(`${method} ${new URL(url).pathname}`);
      return response();
    };
    const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
    return {
      requests,
      url: `http://127.0.0.1:${server.port}`,
      [Symbol.dispose]: () => server.stop(true),
    };
  }

  test("exits with 75 when no node runs, so that a script retries", async () => {
    const url = `http://127.0.0.1:${CLOSED_PORT}`;
    const { exitCode, out, errors } = await listAt(url);
    expect({ exitCode, out }).toEqual({ exitCode: 75, out: "" });
    expect(errors).toBe(
      `error: no node listens at ${url}: start one with \`${compiledFile} serve\`, or name the URL of another\n`,
    );
  });

  test("does not follow a redirect, which would send the signature elsewhere", async () => {
    using elsewhere = serverOf(() => Response.json({ apps: [] }));
    using moved = serverOf(() => Response.redirect(elsewhere.url, 308));
    const { exitCode, errors } = await listAt(moved.url);
    expect(exitCode).toBe(1);
    expect(errors).toStartWith("error: 308: ");
    expect(elsewhere.requests).toEqual([]);
  });

  test("exits with 1 for a response without JSON or with another error format, and prints no control characters", async () => {
    using page = serverOf(() => new Response("<html>"));
    expect(await listAt(page.url)).toMatchObject({
      exitCode: 1,
      errors: `error: ${page.url} responded 200 without JSON\n`,
    });
    using broken = serverOf(() => new Response("\u001b[2Jbad\r\ngateway", { status: 502 }));
    expect(await listAt(broken.url)).toMatchObject({ exitCode: 1, errors: "error: 502: [2Jbad gateway\n" });
  });

  test("escapes characters of a response that a terminal interprets or hides, in tables, JSON and errors", async () => {
    const hostile = "a\u202eb\u200bc\u009b\u{e0041}";
    const app = { app_id: "1", name: hostile };
    using node = serverOf(() => Response.json({ apps: [app] }));
    const list = await listAt(node.url);
    expect(list.out).toContain("a\\u202eb\\u200bc\\u009b\\udb40\\udc41");
    const json = await listAt(node.url, "--json");
    expect(json.out).not.toMatch(/[^\P{C}\n]/u);
    expect(JSON.parse(json.out)).toEqual({ apps: [app] });
    using refusing = serverOf(() => Response.json({ message: hostile }, { status: 403 }));
    expect((await listAt(refusing.url)).errors).toBe("error: 403: a\\u202eb\\u200bc \\udb40\\udc41\n");
  });

  test("accepts a URL with a path, as behind a proxy", async () => {
    using proxy = serverOf(() => Response.json({ apps: [] }));
    expect(await listAt(`${proxy.url}/nodes/a/`)).toEqual({ exitCode: 0, out: "none\n", errors: "" });
    expect(proxy.requests).toEqual(["GET /nodes/a/v2/svc/frame/app/list"]);
  });

  test.each([
    ["ftp://x", "not an http or https URL"],
    ["nonsense", "not an http or https URL"],
    ["https://me:word@node.example", "no user or password"],
    ["https://node.example/?a=1", "must end with its path"],
  ])("%s is not a base URL", (url, reason) => {
    expect(() => nodeUrl(url)).toThrow(reason);
    expect(() => nodeUrl(url)).not.toThrow("word@");
  });

  test("warns about plain http to another machine", async () => {
    expect(isPlainOverNetwork(nodeUrl("http://node.example"))).toBe(true);
    for (const url of ["https://node.example", "http://127.0.0.9:1", "http://[::1]:80", "http://localhost"]) {
      expect(isPlainOverNetwork(nodeUrl(url))).toBe(false);
    }
    const { exitCode, errors } = await listAt("http://nobody.invalid");
    expect(exitCode).toBe(75);
    expect(errors).toStartWith(
      "warning: http://nobody.invalid is plain http: secrets are readable on the network\n",
    );
  });

  test("uses the node of the settings without --url", () => {
    expect(listenerUrl({ host: "0.0.0.0", port: 80 })).toBe("http://127.0.0.1:80");
    expect(listenerUrl({ host: "::1", port: 8080 })).toBe("http://[::1]:8080");
    expect(() => listenerUrl({ host: "::1", port: 0 })).toThrow("http.port is 0");
  });
});

test("uses the address of the settings and SVC_KEY when no flag overrides them", async () => {
  const env = {
    SVC_HTTP_PORT: new URL(node.url).port,
    SVC_KEY: ` ${custodyKey(QUIET).slice(2).toUpperCase()} `,
  };
  const ended = await runWithoutLeak(custodyKey(QUIET), ["app", "list", "--fid", `${QUIET}`], { env });
  expect(ended).toEqual({ exitCode: 0, out: "none\n", errors: "" });
});

describe("keys", () => {
  const args = ["app", "list", "--fid", `${QUIET}`];

  test("a key file overrides SVC_KEY; one that others can read works with a warning", async () => {
    using dir = emptyDir();
    const file = writeKeyFile(dir.path, "key", custodyKey(QUIET));
    chmodSync(file, 0o644);
    const env = { SVC_KEY: custodyKey(OTHER) };
    const ended = await runWithoutLeak(custodyKey(QUIET), [...args, "--key-file", file, "--url", node.url], {
      env,
    });
    expect(ended).toEqual({
      exitCode: 0,
      out: "none\n",
      errors: `warning: ${file} can be read by others; "chmod 600" makes the key private\n`,
    });
  });

  test("exits with 1 and the reason without a usable key", async () => {
    using dir = emptyDir();
    const file = writeKeyFile(dir.path, "key", custodyKey(QUIET).slice(0, -1));
    const words = "must hold a private key: 64 hex digits";
    expect(await run([...args, "--key-file", file])).toEqual({
      exitCode: 1,
      out: "",
      errors: `error: key file ${file} ${words}\n`,
    });
    expect(await run(args)).toMatchObject({ exitCode: 1, out: "" });
  });

  test("has no flag for a key, and does not print a key that is passed as a file name", async () => {
    for (const flag of ["--key", "--key-file"]) {
      const { exitCode, errors } = await run([...args, flag, custodyKey(QUIET)]);
      expect(exitCode).toBe(1);
      expect(errors).not.toContain(custodyKey(QUIET).slice(2));
    }
  });
});

test.each([
  [["app", "list"], "--fid"],
  [["app", "list", "--fid", "0"], "whole number"],
  [["app", "list", "--fid", "1e3"], "whole number"],
  [["app", "list", "--fid", "9007199254740992"], "whole number"],
  [["app", "get", "--fid", "3"], "app_id"],
  [["app", "create", "--fid", "3", "--name", "x"], "--app-url"],
  [["app", "update", UNKNOWN_APP, "--fid", "3"], "nothing to change"],
  [
    ["app", "create", "--fid", "3", "--name", "x", "--app-url", "x", "--signer-fid-allowlist", "1,two"],
    "whole number",
  ],
])("%j is rejected without a request to a node", async (args, reason) => {
  const { exitCode, out, errors } = await run(args, {
    env: { SVC_KEY: custodyKey(OWNER), SVC_HTTP_PORT: "1" },
  });
  expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
  expect(errors).toContain(reason);
});

describe("tables of any response", () => {
  test("show no control character and no masked secret, and never fail", () => {
    const record = {
      name: "a\u001b[2J\u009bb\nc",
      created_at: 1e300,
      updated_at: "soon",
      nested: { a: [1, null] },
      send_secrets: [{ uid: "u", value: "abcdefgh", expires_at: null }],
      unknown: [],
    };
    const masked = recordTable(record, "masked");
    expect(masked).toContain("name        a\\u001b[2J\\u009bb\\u000ac\n");
    expect(masked).toContain('created_at  1e+300\nupdated_at  soon\nnested      {"a":[1,null]}\n');
    expect(masked).toContain("abcd…");
    expect(masked).not.toContain("abcde");
    expect(recordTable(record, "shown")).toContain("abcdefgh");
    expect(recordsTable([record, null, 7], ["name", "nested", "send_secrets"], "masked")).not.toContain(
      "abcde",
    );
  });

  test.each([[null], [undefined], [7], ["text"], [[]], [{}]])("%j is shown as nothing", (response) => {
    expect(recordTable(response, "shown")).toBe("");
    expect(recordsTable(response, ["name"], "shown")).toBe("none\n");
  });
});
