import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { importRegistry } from "../../src/import/channel-registry.ts";
import { MessageType } from "../../src/protocol/wire/generated/message.ts";
import { channelLookups } from "../../src/writes/compose/index-lookups.ts";
import { startTestApi, type TestApi } from "../support/api.ts";
import {
  Action,
  activateChannels,
  acts,
  follows,
  moderates,
  ownsWallet,
  registers,
  updates,
  uriOf,
  walletOf,
} from "../support/channel-records.ts";
import { DEFAULT_TIMESTAMP } from "../support/messages.ts";
import { accountRecords } from "../support/node.ts";
import { hashBytes, signed } from "../support/records.ts";

/** The squatter registers the name of a channel that clients know. */
const [SQUATTER, USER, LEAD] = [1, 2, 3] as const;
const URL_OF = (key: string) => `https://warpcast.com/~/channel/${key}`;
const dir = mkdtempSync(join(tmpdir(), "protocol-names-test-"));

let api: TestApi;
let hidden: string;

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function get(path: string): Promise<any> {
  const response = await fetch(`${api.url}/v2/${path}`);
  expect({ path, status: response.status }).toEqual({ path, status: 200 });
  return response.json();
}

/** Shows channels by the setting. The import clears what is cached. */
function decide(protocolNames: "win" | "lose"): void {
  api.reader.protocolNames = protocolNames;
  const channel = { id: "books", url: URL_OF("books"), name: `Imported: ${protocolNames}`, leadFid: LEAD };
  const file = join(dir, "registry.json");
  writeFileSync(file, JSON.stringify([{ ...channel, followerCount: 77 }]));
  expect(importRegistry(api.node.db, file).badRows).toEqual([]);
}

beforeAll(async () => {
  api = await startTestApi({ compatPrefixes: ["farcaster"] });
  activateChannels(api.node.db);
  const written = signed(USER, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: {
      $case: "castAddBody",
      value: { text: "in it", parent: { $case: "parentUrl", value: URL_OF("books") } },
    },
  });
  hidden = `0x${hashBytes(written).toString("hex")}`;
  const ingested = api.node.ingestAll([
    ...[SQUATTER, USER, LEAD].flatMap((fid) => accountRecords(fid)),
    ownsWallet(SQUATTER),
    registers("books", walletOf(SQUATTER)),
    registers("films", walletOf(SQUATTER)),
    updates(SQUATTER, "books", { name: "Squatted" }),
    acts(SQUATTER, "books", Action.ban, USER, DEFAULT_TIMESTAMP + 1),
    written,
    moderates(SQUATTER, "books", hashBytes(written), true),
    follows(LEAD, "books"),
  ]);
  expect(new Set(ingested)).toEqual(new Set(["ok"]));
});
afterAll(async () => {
  await api[Symbol.asyncDispose]();
  rmSync(dir, { recursive: true, force: true });
});

async function shown() {
  const { channel } = await get("farcaster/channel?id=books");
  const { members } = await get("farcaster/channel/member/list?channel_id=books");
  const { casts } = await get("farcaster/feed/channels?channel_ids=books");
  const { users } = await get("farcaster/channel/followers?id=books");
  return {
    source: channel.source,
    lead: channel.lead?.fid,
    followers: channel.follower_count,
    members: members.map(({ role, user }: { role: string; user: { fid: number } }) => `${role} ${user.fid}`),
    casts: casts.map(({ hash }: { hash: string }) => hash),
    following: users.map(({ fid }: { fid: number }) => fid),
    follow: channelLookups(api.reader).followUriOf("books"),
  };
}

test("channels.protocol_names decides whether a registered or an imported channel of one name is shown, with its members and casts", async () => {
  const registered = {
    source: "protocol",
    lead: SQUATTER,
    followers: 1,
    members: [`owner ${SQUATTER}`],
    casts: [],
    following: [LEAD],
    follow: uriOf("books"),
  };
  decide("win");
  expect(await shown()).toEqual(registered);

  decide("lose");
  expect(await shown()).toEqual({
    source: "import",
    lead: LEAD,
    followers: 77,
    members: [`member ${USER}`],
    casts: [hidden],
    following: [USER],
    follow: undefined,
  });
  // What the protocol has is still there, under its own names and for channels that no file has.
  expect((await get("svc/channel/bans?id=books")).bans).toMatchObject([{ user: { fid: USER } }]);
  expect(channelLookups(api.reader).followUriOf(uriOf("books"))).toBe(uriOf("books"));
  expect((await get("farcaster/channel?id=films")).channel).toMatchObject({ source: "protocol" });

  decide("win");
  expect(await shown()).toEqual(registered);
});
