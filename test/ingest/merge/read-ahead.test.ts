import { afterAll, beforeAll, expect, test } from "bun:test";
import { firstCastId } from "../../../src/db/index/cast-id.ts";
import { LinkType, storedLinkType } from "../../../src/db/index/messages/columns.ts";
import type { LookUps } from "../../../src/db/sqlite/leaf-pages.ts";
import { ReadAhead } from "../../../src/db/sqlite/read-ahead.ts";
import { willMerge } from "../../../src/ingest/merge/read-ahead.ts";
import { slotOf } from "../../../src/protocol/message/merge-rules.ts";
import { decodeMessage } from "../../../src/protocol/message/signed-message.ts";
import { toUnixSecs } from "../../../src/protocol/time.ts";
import { MessageType } from "../../../src/protocol/wire/generated/message.ts";
import { OnChainEventType } from "../../../src/protocol/wire/generated/on-chain.ts";
import { DEFAULT_TIMESTAMP } from "../../support/messages.ts";
import { accountRecords, accountSigner, startTestNode, type TestNode } from "../../support/node.ts";
import { bio, cast, hashBytes, likeUrl, link, react, signed } from "../../support/records.ts";
import { expectOk } from "../../support/result.ts";

/** Every message is of fid 1 and concerns fid 2. */
const [AUTHOR, OTHER] = [1, 2];
const AT = toUnixSecs(DEFAULT_TIMESTAMP);
/** The cast that `react` likes. */
const known = cast(OTHER, "liked");
const unknown = cast(OTHER, "never merged");
const prefixOf = (record: typeof known) => hashBytes(record).subarray(0, 6);

let node: TestNode;
let id: number;
const announced: LookUps[] = [];
beforeAll(() => {
  node = startTestNode();
  node.ingestAll([...accountRecords(AUTHOR), ...accountRecords(OTHER), known]);
  id = node.db.sqlite.query<{ id: number }, []>("SELECT id FROM casts").get()?.id ?? 0;
  node.db.readAhead = Object.assign(new ReadAhead(node.db.sqlite), {
    willRead: (lookUps: () => readonly LookUps[]) => void announced.push(...lookUps()),
  });
});
afterAll(() => node[Symbol.dispose]());

const plain = (key: unknown) =>
  JSON.stringify(key, (_, value) =>
    value?.type === "Buffer" ? Buffer.from(value.data).toString("hex") : value,
  );

/** What is announced of a message, as "tree: key". */
function announcedFor({ bytes }: typeof known): string[] {
  announced.length = 0;
  willMerge(node.db, () => [expectOk(decodeMessage(bytes))]);
  return announced.flatMap(({ tree, keys }) =>
    keys.map((key) => `${tree}: ${plain(Array.isArray(key) ? key.map(bufferOf) : key)}`),
  );
}
const bufferOf = (value: unknown) => (value instanceof Uint8Array ? Buffer.from(value) : value);
const look = (tree: string, ...key: readonly (number | string | Uint8Array)[]) =>
  `${tree}: ${plain(key.map(bufferOf))}`;
const row = (tree: string, key: number) => `${tree}: ${key}`;

/** What the merge of each message looks up. */
function ofAll({ bytes }: typeof known): string[] {
  const message = expectOk(decodeMessage(bytes));
  const { store, slot } = slotOf(message);
  const { publicKey } = accountSigner(AUTHOR);
  return [
    row("fids", AUTHOR),
    look("signers", AUTHOR, publicKey),
    look("message_signers_by_key", publicKey),
    look("on_chain_events", OnChainEventType.EVENT_TYPE_STORAGE_RENT, AUTHOR),
    look("store_counts", AUTHOR, store),
    look("messages_by_slot", AUTHOR, store, slot),
  ];
}

const castOf = (parent: object) =>
  signed(AUTHOR, {
    type: MessageType.MESSAGE_TYPE_CAST_ADD,
    body: { $case: "castAddBody", value: { text: "hi", ...parent } },
  });
const replyTo = (record: typeof known) =>
  castOf({ parent: { $case: "parentCastId", value: { fid: OTHER, hash: hashBytes(record) } } });
const ownKeys = (record: typeof known, isReply: number) => [
  look("casts_by_hash", prefixOf(record)),
  look("casts_by_author", AUTHOR, isReply, firstCastId(AT, hashBytes(record))),
];
const ofNamed = (record: typeof known) => [
  look("casts_by_hash", prefixOf(record)),
  look("notifications", OTHER, AT),
  look("cast_counts_by_author", OTHER),
];
const plainCast = castOf({});
const inChannel = castOf({ parent: { $case: "parentUrl", value: "https://a.example" } });

test.each<[string, typeof known, () => readonly string[]]>([
  ["a cast", plainCast, () => ownKeys(plainCast, 0)],
  [
    "a cast in a channel",
    inChannel,
    () => [...ownKeys(inChannel, 0), look("casts_by_author_in_channel", AUTHOR)],
  ],
  [
    "a reply to a cast that is there",
    replyTo(known),
    () => [
      ...[...ownKeys(replyTo(known), 1), ...ofNamed(known)],
      ...[row("casts", id), row("cast_counts", id), look("casts_by_parent", id)],
      ...[look("casts_by_author_and_parent", AUTHOR, id), look("notifications_of_casts", OTHER, AT)],
    ],
  ],
  [
    "a reply to a cast that is not",
    replyTo(unknown),
    () => [...ownKeys(replyTo(unknown), 1), ...ofNamed(unknown)],
  ],
  [
    "a like",
    react(AUTHOR, 1),
    () => [
      ...[
        look("reactions_by_user", AUTHOR, 1, AT),
        ...ofNamed(known),
        row("casts", id),
        row("cast_counts", id),
      ],
      ...[look("reactions", AUTHOR, OTHER, id, 1), look("reactions_by_target", id, 1, AT, AUTHOR)],
    ],
  ],
  ["a like of a URL", likeUrl(AUTHOR, "https://a.example"), () => [look("reactions_by_user", AUTHOR, 1, AT)]],
  ["user data", bio(AUTHOR, "hello"), () => [look("user_data", AUTHOR, 3)]],
])("%s is announced with what its merge looks up", (_, record, keys) => {
  expect(announcedFor(record).sort()).toEqual([...ofAll(record), ...keys()].sort());
});

test("a follow is announced with what the other one follows and the counts of both, another link is not", () => {
  const ofLink = (type: ReturnType<typeof storedLinkType>) => [
    look("links", AUTHOR, type, OTHER),
    look("links_by_source", AUTHOR, type, AT),
    look("links_by_target", OTHER, type, AT),
  ];
  const [follow, block] = [link(AUTHOR, "follow", OTHER), link(AUTHOR, "block", OTHER)];
  expect(announcedFor(follow).sort()).toEqual(
    [
      ...[...ofAll(follow), ...ofLink(LinkType.Follow), look("links", OTHER, LinkType.Follow, AUTHOR)],
      ...[look("mutual_follows", AUTHOR, OTHER), look("mutual_follows", OTHER, AUTHOR)],
      ...[row("follow_counts", AUTHOR), row("follow_counts", OTHER), look("notifications", OTHER, AT)],
    ].sort(),
  );
  expect(announcedFor(block).sort()).toEqual([...ofAll(block), ...ofLink(storedLinkType("block"))].sort());
});

test("nothing is announced without messages", () => {
  announced.length = 0;
  willMerge(node.db, () => []);
  expect(announced).toEqual([]);
});
