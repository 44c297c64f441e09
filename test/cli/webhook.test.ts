import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { FILTER_FLAGS } from "../../src/cli/operations/subscription.ts";
import { eventKinds } from "../../src/webhooks/subscription-schema.ts";
import {
  ALLOWED_URL,
  custodyKey,
  type ManagementNode,
  startManagementNode,
  writeKeyFile,
} from "./management-node.ts";
import { emptyDir, run } from "./run.ts";

const OWNER = 3;
const OTHER = 4;
const HASH = `0x${"ab".repeat(20)}`;
const UNKNOWN_WEBHOOK = "00000000-0000-4000-8000-000000000000";
const CREATE = ["webhook", "create", "--name", "Bread talk", "--target-url", ALLOWED_URL];

let node: ManagementNode;
beforeAll(async () => {
  node = await startManagementNode(["webhooks.max_webhooks_per_owner=10"]);
}, 180_000);
afterAll(() => node[Symbol.asyncDispose]());

interface WebhookJson {
  readonly webhook_id: string;
  readonly subscription: unknown;
  readonly secrets: readonly { readonly value: string }[];
}

async function webhookOf(fid: number, args: readonly string[], stdin?: string): Promise<WebhookJson> {
  const { webhook } = await node.json(fid, args, stdin === undefined ? {} : { stdin });
  if (webhook === undefined) throw new Error("the response has no webhook");
  return webhook;
}

test("creates, reads, lists, updates, rotates and deletes a webhook", async () => {
  const created = await node.as(OWNER, [...CREATE, "--description", "loaves", "--on", "cast.created"]);
  expect(created).toMatchObject({ exitCode: 0, errors: "" });
  const [, id = ""] = /^webhook_id +(\S{36})$/m.exec(created.out) ?? [];
  const webhook = await webhookOf(OWNER, ["webhook", "get", id]);
  const value = webhook.secrets[0]?.value ?? "";
  expect(value).toMatch(/^[0-9a-f]{64}$/);
  for (const line of [
    `owner_fid             ${OWNER}`,
    `target_url            ${ALLOWED_URL}`,
    "title                 Bread talk",
    "description           loaves",
    "active                true",
    'subscription          {"cast.created":{}}',
  ]) {
    expect(created.out).toContain(`${line}\n`);
  }
  expect(created.out).toContain(`  ${value}  `);
  expect(created.out).toContain(`  whsec_${Buffer.from(value).toString("base64")}\n`);
  expect((await node.as(OWNER, ["webhook", "get", id])).out).toBe(created.out);

  expect(await node.json(OWNER, ["webhook", "list"])).toEqual({ webhooks: [webhook] } as never);
  const list = await node.as(OWNER, ["webhook", "list"]);
  expect(list.out).toStartWith("webhook_id ");
  expect(list.out).toContain(
    `\n${id}  Bread talk  ${ALLOWED_URL}  true    cast.created  ${value.slice(0, 4)}…  `,
  );
  expect(list.out).not.toContain(value);
  expect((await node.as(OWNER, ["webhook", "list", "--reveal"])).out).toContain(value);

  const changes = ["--name", "Rye talk", "--no-description", "--no-active"];
  const updated = await node.as(OWNER, [
    "webhook",
    "update",
    id,
    ...changes,
    "--on",
    "follow.created",
    "--fids",
    "1",
  ]);
  expect(updated.out).not.toContain(value);
  expect(updated.out).not.toContain("whsec_");
  expect(await webhookOf(OWNER, ["webhook", "get", id])).toMatchObject({
    title: "Rye talk",
    description: null,
    active: false,
    subscription: { "follow.created": { fids: [1] } },
    target_url: ALLOWED_URL,
  } as never);
  expect(await webhookOf(OWNER, ["webhook", "update", id, "--active"])).toMatchObject({
    active: true,
    title: "Rye talk",
  } as never);

  const rotated = await webhookOf(OWNER, ["webhook", "rotate", id]);
  expect(rotated.secrets.map((secret) => secret.value)).toEqual([
    value,
    expect.stringMatching(/^[0-9a-f]{64}$/),
  ]);

  expect(await node.as(OWNER, ["webhook", "delete", id])).toEqual({
    exitCode: 0,
    out: `deleted ${id}\n`,
    errors: "",
  });
  expect((await node.as(OWNER, ["webhook", "get", id])).errors).toStartWith("error: 404: ");
}, 180_000);

describe("subscriptions", () => {
  test.each<[readonly string[], unknown]>([
    [["--on", "cast.created", "--author-fids", "1,2"], { "cast.created": { author_fids: [1, 2] } }],
    [
      [
        "--on",
        "reaction.created, reaction.deleted",
        "--on",
        "follow_created",
        "--target-fids",
        "7",
        "--target-fids",
        "8",
      ],
      {
        "follow.created": { target_fids: [7, 8] },
        "reaction.created": { target_fids: [7, 8] },
        "reaction.deleted": { target_fids: [7, 8] },
      },
    ],
    [
      [
        ...["--on", "cast.created", "--match", "any", "--text", "(?i)bread, or rye", "--parent-hashes", HASH],
        ...["--parent-urls", "https://a.example/?x=1,2", "--parent-urls", "chain://eip155:1/erc721:0x0"],
      ],
      {
        "cast.created": {
          match: "any",
          text: "(?i)bread, or rye",
          parent_hashes: [HASH],
          parent_urls: ["https://a.example/?x=1,2", "chain://eip155:1/erc721:0x0"],
        },
      },
    ],
  ])("the flags %j become %j", async (flags, subscription) => {
    const webhook = await webhookOf(OTHER, [...CREATE, ...flags]);
    expect(webhook.subscription).toEqual(subscription);
  });

  test("a file or standard input can have subscriptions that flags cannot express", async () => {
    using dir = emptyDir();
    const subscription = { "cast.created": { author_fids: [1] }, "user.created": {} };
    const file = writeKeyFile(dir.path, "subscription.json", JSON.stringify(subscription));
    const fromFile = await webhookOf(OTHER, [...CREATE, "--subscription", file]);
    expect(fromFile.subscription).toEqual(subscription);
    const change = ["webhook", "update", fromFile.webhook_id, "--subscription", "-"];
    const fromInput = await webhookOf(OTHER, change, '{ "user_updated": { "fids": [2] } }');
    expect(fromInput.subscription).toEqual({ "user.updated": { fids: [2] } });
  });

  /** One with two words, and one that this node refuses. */
  const UNTRIED = new Set(["match", "minimum_author_score"]);

  test("exclusions of all kinds have flags", async () => {
    const args = ["--on", "cast.created,follow.created", "--exclude-fids", "7,8", "--exclude-bans"];
    const { subscription } = await webhookOf(5, [...CREATE, ...args]);
    expect(subscription).toEqual({
      "cast.created": {},
      "follow.created": {},
      exclude: { fids: [7, 8], bans: true },
    });
  });

  test("every filter of the node has a flag, and every flag a filter", () => {
    const known = new Set(eventKinds.flatMap(({ filters }) => filters));
    expect(FILTER_FLAGS.map(({ filter }) => filter).sort()).toEqual([...known].sort());
  });

  test.each(["cast.created", "reaction.created", "channel.pinned"])(
    "every filter flag of %s arrives as its filter",
    async (kind) => {
      const known = eventKinds.find((candidate) => candidate.kind === kind)?.filters ?? [];
      const flags = FILTER_FLAGS.filter(({ filter }) => known.includes(filter) && !UNTRIED.has(filter));
      expect(flags.length).toBe(known.filter((filter) => !UNTRIED.has(filter)).length);
      const textOf = (value: string) => ({ "<fids>": "1", "<hashes>": HASH })[value] ?? "https://a.example";
      const args = flags.flatMap(({ filter, value }) => [`--${filter.replaceAll("_", "-")}`, textOf(value)]);
      const wanted = flags.map(({ filter, value }) => {
        const text = textOf(value);
        return [filter, value === "<fids>" ? [Number(text)] : value === "<regex>" ? text : [text]];
      });
      const { subscription } = await webhookOf(5, [...CREATE, "--on", kind, ...args]);
      expect(subscription).toEqual({ [kind]: Object.fromEntries(wanted) });
    },
  );

  test.each([
    [["--on", "cast.created,follow.created", "--author-fids", "1"], "follow.created has an unknown key"],
    [["--on", "cast.eaten"], 'unknown key "cast.eaten"'],
    [["--on", "cast.created", "--text", "(?=x)"], "subscription.cast.created.text"],
    [["--on", "cast.created", "--match", "some"], 'must be "all" or "any"'],
  ])("prints the 400 of the node for %j", async (flags, reason) => {
    const { exitCode, out, errors } = await node.as(OWNER, [...CREATE, ...flags]);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(errors).toStartWith("error: 400: ");
    expect(errors).toContain(reason);
  });

  test.each([
    [CREATE, "--subscription <file.json>, or --on <kinds>"],
    [[...CREATE, "--author-fids", "1"], "--author-fids narrows the kinds of --on"],
    [
      [...CREATE, "--on", "cast.created", "--subscription", "-"],
      "cannot be combined with --on or filter flags",
    ],
    [[...CREATE, "--text", "a", "--subscription", "-"], "cannot be combined with --on or filter flags"],
    [[...CREATE, "--subscription", "/nowhere.json"], "/nowhere.json cannot be read: ENOENT"],
    [[...CREATE, "--subscription", "-"], "- is not JSON"],
    [[...CREATE, "--on", "cast.created", "--author-fids", "1,x"], "whole number"],
    [["webhook", "update", UNKNOWN_WEBHOOK], "nothing to change"],
  ])("%j is rejected without a request to a node", async (args, reason) => {
    const env = { SVC_KEY: custodyKey(OWNER), SVC_HTTP_PORT: "1" };
    const { exitCode, out, errors } = await run([...args, "--fid", `${OWNER}`], { env, stdin: "{" });
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: "" });
    expect(errors).toContain(reason);
  });

  test("a file above the node's size limit is not read", async () => {
    const env = { SVC_KEY: custodyKey(OWNER) };
    const args = [...CREATE, "--fid", `${OWNER}`, "--subscription", "-"];
    const { exitCode, errors } = await run(args, { env, stdin: new Uint8Array(262_145).fill(0x20) });
    expect({ exitCode, errors }).toEqual({ exitCode: 1, errors: "error: - has more than 262144 bytes\n" });
  });
});

describe("exits with 1, status and message when the node rejects the request", () => {
  let id: string;
  beforeAll(async () => {
    id = (await webhookOf(OTHER, [...CREATE, "--on", "cast.created"])).webhook_id;
  });

  test.each([["get"], ["delete"], ["rotate"], ["update"]])(
    "webhook %s of another fid's webhook is 403, of none 404",
    async (command) => {
      const change = command === "update" ? ["--name", "Mine now"] : [];
      const [foreign, missing] = await Promise.all(
        [id, UNKNOWN_WEBHOOK].map((requested) => node.as(OWNER, ["webhook", command, requested, ...change])),
      );
      expect(foreign).toEqual({
        exitCode: 1,
        out: "",
        errors: "error: 403: the webhook belongs to another fid\n",
      });
      expect(missing).toMatchObject({ exitCode: 1, out: "" });
      expect(missing?.errors).toStartWith("error: 404: ");
    },
  );

  test("returns 401 for a key of another fid", async () => {
    const args = [...CREATE, "--on", "cast.created", "--fid", `${OTHER}`, "--url", node.url];
    const ended = await run(args, { env: { SVC_KEY: custodyKey(OWNER) } });
    expect(ended).toMatchObject({ exitCode: 1, out: "" });
    expect(ended.errors).toStartWith("error: 401: ");
  });
});
