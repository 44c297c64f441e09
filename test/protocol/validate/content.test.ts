import { describe } from "bun:test";
import { CastType, MessageType, ReactionType } from "../../../src/protocol/wire/generated/message.ts";
import { signMessage } from "../../support/messages.ts";
import {
  type Body,
  cast,
  FID,
  HASH,
  type Refused,
  raw,
  signer,
  testMessages,
  type Valid,
} from "./message-tables.ts";

const T = MessageType;
const TARGET = { fid: 3, hash: HASH };
const LIKE = ReactionType.REACTION_TYPE_LIKE;

const castRemove = (targetHash: Uint8Array) =>
  signMessage(
    { type: T.MESSAGE_TYPE_CAST_REMOVE, fid: FID, body: { $case: "castRemoveBody", value: { targetHash } } },
    signer,
  );
const reaction = (value: Body<"reactionBody">) =>
  signMessage(
    { type: T.MESSAGE_TYPE_REACTION_ADD, fid: FID, body: { $case: "reactionBody", value } },
    signer,
  );
const link = (value: Body<"linkBody">, type = T.MESSAGE_TYPE_LINK_ADD) =>
  signMessage({ type, fid: FID, body: { $case: "linkBody", value } }, signer);
const compact = (value: Body<"linkCompactStateBody">) =>
  signMessage(
    { type: T.MESSAGE_TYPE_LINK_COMPACT_STATE, fid: FID, body: { $case: "linkCompactStateBody", value } },
    signer,
  );

const valid: readonly Valid[] = [
  [
    "ten mentions",
    cast({ text: "x", mentions: new Array(10).fill(1), mentionsPositions: new Array(10).fill(0) }),
  ],
  ["a link type of one byte", link({ type: "f", target: { $case: "targetFid", value: 1 } })],
  ["a NUL in a text", cast({ text: "a\0b" })],
  ["a byte order mark in a text", cast({ text: "\ufeffx" })],
  [
    "mentions inside a character and at the end",
    cast({ text: "é", mentions: [1, 2], mentionsPositions: [1, 2] }),
  ],
];

const refused: readonly Refused[] = [
  ["cast text of 321 bytes", cast({ text: "x".repeat(321) }), /0 to 320 bytes/],
  ["cast text of 321 bytes in 107 characters", cast({ text: "€".repeat(107) }), /0 to 320 bytes/],
  [
    "long cast of 320 bytes",
    cast({ text: "x".repeat(320), type: CastType.CAST_TYPE_LONG_CAST }),
    /321 to 1024/,
  ],
  [
    "long cast of 1025 bytes",
    cast({ text: "x".repeat(1025), type: CastType.CAST_TYPE_LONG_CAST }),
    /321 to 1024/,
  ],
  [
    "ten-k cast of 1024 bytes",
    cast({ text: "x".repeat(1024), type: CastType.CAST_TYPE_TEN_K_CAST }),
    /1025 to 10000/,
  ],
  [
    "ten-k cast of 10001 bytes",
    cast({ text: "x".repeat(10_001), type: CastType.CAST_TYPE_TEN_K_CAST }),
    /1025 to 10000/,
  ],
  ["an unknown cast type", cast({ text: "x", type: 3 as CastType }), /cast type/],
  [
    "five embeds",
    cast({ embeds: Array.from({ length: 5 }, () => ({ embed: { $case: "url" as const, value: "u" } })) }),
    /4 embeds/,
  ],
  ["an empty embed", cast({ text: "x", embeds: [{}] }), /embed is empty/],
  [
    "an embed url of 257 bytes",
    cast({ embeds: [{ embed: { $case: "url", value: "u".repeat(257) } }] }),
    /1 to 256/,
  ],
  ["an empty embed url", cast({ embeds: [{ embed: { $case: "url", value: "" } }] }), /1 to 256/],
  [
    "an embedded cast without fid",
    cast({ embeds: [{ embed: { $case: "castId", value: { fid: 0, hash: HASH } } }] }),
    /embed fid/,
  ],
  [
    "an embedded cast with a hash of 19 bytes",
    cast({ embeds: [{ embed: { $case: "castId", value: { fid: 1, hash: HASH.subarray(1) } } }] }),
    /embed hash/,
  ],
  [
    "deprecated embeds after their end",
    cast({ embedsDeprecated: ["u"] }, { timestamp: 73_612_800 }),
    /no longer/,
  ],
  [
    "three deprecated embeds",
    cast({ embedsDeprecated: ["a", "b", "c"] }, { timestamp: 73_612_799 }),
    /2 deprecated/,
  ],
  ["an empty deprecated embed", cast({ embedsDeprecated: [""] }, { timestamp: 73_612_799 }), /1 to 256/],
  [
    "an empty second deprecated embed",
    cast({ embedsDeprecated: ["u", ""] }, { timestamp: 73_612_799 }),
    /1 to 256/,
  ],
  [
    "embeds of both kinds",
    cast(
      { embedsDeprecated: ["a"], embeds: [{ embed: { $case: "url", value: "u" } }] },
      { timestamp: 73_612_799 },
    ),
    /exclude each other/,
  ],
  [
    "eleven mentions",
    cast({ text: "x", mentions: new Array(11).fill(1), mentionsPositions: new Array(11).fill(0) }),
    /10 mentions/,
  ],
  [
    "a mention without position",
    cast({ text: "x", mentions: [1], mentionsPositions: [] }),
    /differ in count/,
  ],
  [
    "a position without mention",
    cast({ text: "x", mentions: [], mentionsPositions: [0] }),
    /differ in count/,
  ],
  ["a mention of fid 0", cast({ text: "x", mentions: [0], mentionsPositions: [0] }), /mention is missing/],
  [
    "a mention after the end of the text",
    cast({ text: "é", mentions: [1], mentionsPositions: [3] }),
    /beyond the text/,
  ],
  [
    "mentions in descending order",
    cast({ text: "xyz", mentions: [1, 2], mentionsPositions: [2, 1] }),
    /not decrease/,
  ],
  [
    "a parent cast without fid",
    cast({ text: "x", parent: { $case: "parentCastId", value: { fid: 0, hash: HASH } } }),
    /parent fid/,
  ],
  [
    "a parent cast with a hash of 21 bytes",
    cast({ text: "x", parent: { $case: "parentCastId", value: { fid: 1, hash: raw(HASH, 1) } } }),
    /parent hash/,
  ],
  [
    "a parent url of 257 bytes",
    cast({ text: "x", parent: { $case: "parentUrl", value: "u".repeat(257) } }),
    /parent_url/,
  ],
  ["an empty parent url", cast({ text: "x", parent: { $case: "parentUrl", value: "" } }), /parent_url/],
  ["an empty cast", cast({}), /cast is empty/],
  ["an empty reply", cast({ parent: { $case: "parentCastId", value: TARGET } }), /cast is empty/],
  ["removal of a hash of 19 bytes", castRemove(HASH.subarray(1)), /target_hash/],
  ["removal without hash", castRemove(raw()), /target_hash/],
  [
    "a reaction without type",
    reaction({ type: 0, target: { $case: "targetUrl", value: "u" } }),
    /reaction type/,
  ],
  [
    "a reaction of an unknown type",
    reaction({ type: 3 as ReactionType, target: { $case: "targetUrl", value: "u" } }),
    /reaction type/,
  ],
  ["a reaction without target", reaction({ type: LIKE }), /no target/],
  [
    "a reaction to an empty url",
    reaction({ type: LIKE, target: { $case: "targetUrl", value: "" } }),
    /target_url/,
  ],
  [
    "a reaction to a url of 257 bytes",
    reaction({ type: LIKE, target: { $case: "targetUrl", value: "u".repeat(257) } }),
    /target_url/,
  ],
  [
    "a reaction to a cast of fid 0",
    reaction({ type: LIKE, target: { $case: "targetCastId", value: { fid: 0, hash: HASH } } }),
    /target fid/,
  ],
  [
    "a reaction to a hash of 19 bytes",
    reaction({ type: LIKE, target: { $case: "targetCastId", value: { fid: 1, hash: HASH.subarray(1) } } }),
    /target hash/,
  ],
  ["a link without type", link({ type: "", target: { $case: "targetFid", value: 1 } }), /link type/],
  ["a link type of 9 bytes", link({ type: "ééééx", target: { $case: "targetFid", value: 1 } }), /link type/],
  ["a link without target", link({ type: "follow" }), /target_fid/],
  [
    "a removed link to fid 0",
    link({ type: "follow", target: { $case: "targetFid", value: 0 } }, T.MESSAGE_TYPE_LINK_REMOVE),
    /target_fid/,
  ],
  ["a compact state without type", compact({ type: "", targetFids: [1] }), /link type/],
  ["an empty compact state", compact({ type: "follow", targetFids: [] }), /is empty/],
  ["a compact state that lists fid 0", compact({ type: "follow", targetFids: [1, 0] }), /holds 0/],
];

describe("casts, reactions and links", () => {
  testMessages(valid, refused, "bad_request.validation_failure");
});
